import { area } from "../../shared/area.ts";
import { retrieveIdentifier } from "./contract.ts";

/** The identifiers, the type and the pseudonym of the device a subscriber uses. */
export const deviceIdentifierArea = area({
  name: "device-identifier",
  about: "The identifiers of the device a subscriber uses.",
  endpoints: [retrieveIdentifier],
  scopes: { "device-identifier:retrieve-identifier": "Retrieve the identifiers of a subscriber's device." },
  tables: [],
});
