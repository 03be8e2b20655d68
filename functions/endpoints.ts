import { retrieveIdentifier } from "./device-identifier/contract.ts";
import { publishKeys } from "./keys/contract.ts";
import { checkNumberRecycling } from "./number-recycling/contract.ts";
import { publishDocument } from "./openapi/contract.ts";
import { retrievePopulationDensity } from "./population-density/contract.ts";
import { authenticate } from "./profile/contract.ts";
import { getQosProfile, retrieveQosProfiles } from "./qos-profiles/contract.ts";

/** Every endpoint of the service: the one list that routes, functions, documents and tests are made from. */
export const endpoints = [
  authenticate,
  retrieveQosProfiles,
  getQosProfile,
  retrievePopulationDensity,
  checkNumberRecycling,
  retrieveIdentifier,
  publishKeys,
  publishDocument,
] as const;

/** The id of an endpoint. */
export type EndpointId = (typeof endpoints)[number]["id"];
