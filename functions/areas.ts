import { accessRecords } from "../shared/access-records/table.ts";
import { devices } from "../shared/devices/table.ts";
import { pseudonymKeys } from "../shared/pseudonym-keys/table.ts";
import { quotas } from "../shared/quota/table.ts";
import { signingKeys } from "../shared/tokens/table.ts";
import { consoleWebsite } from "./console/website.ts";
import { deviceIdentifierArea } from "./device-identifier/area.ts";
import { keysArea } from "./keys/area.ts";
import { numberRecyclingArea } from "./number-recycling/area.ts";
import { oauth2Area } from "./oauth2/area.ts";
import { openApiArea } from "./openapi/area.ts";
import { populationDensityArea } from "./population-density/area.ts";
import { profileArea } from "./profile/area.ts";
import { qosProfilesArea } from "./qos-profiles/area.ts";

/** Every area of the service: the one list that routes, functions, tables, documents and tests are made from. */
export const areas = [
  profileArea,
  qosProfilesArea,
  populationDensityArea,
  numberRecyclingArea,
  deviceIdentifierArea,
  keysArea,
  openApiArea,
] as const;

type ListedArea = (typeof areas)[number];

/** Every endpoint of the service. */
export const endpoints = areas.flatMap((area): readonly ListedArea["endpoints"][number][] => area.endpoints);

/** The id of an endpoint. */
export type EndpointId = (typeof endpoints)[number]["id"];

/** Areas of protocols, which a stage has where it is set so. */
const protocolAreas = [oauth2Area] as const;

/** What the OpenAPI document describes: a stage without a protocol leaves it out when it serves the document. */
export const documentedAreas = [profileArea, ...protocolAreas, ...areas.slice(1)];

/** Every endpoint of a protocol. */
export const protocolEndpoints = protocolAreas.flatMap(({ endpoints }) => endpoints);

/** The id of a protocol's endpoint. */
export type ProtocolEndpointId = (typeof protocolEndpoints)[number]["id"];

/** Every website: paths of the same stage that are no part of the API. */
export const websites = [consoleWebsite] as const;

/** The id of a website. */
export type WebsiteId = (typeof websites)[number]["id"];

/** What several areas use. */
const sharedTables = [devices, quotas, signingKeys, accessRecords, pseudonymKeys] as const;

type ListedTable =
  | (ListedArea | (typeof protocolAreas)[number])["tables"][number]
  | (typeof sharedTables)[number];

/** Every table of the service. */
export const tables: readonly ListedTable[] = [
  ...[...areas, ...protocolAreas].flatMap((area): readonly ListedTable[] => area.tables),
  ...sharedTables,
];

/** The name of a table in this project; the deployed name is in the environment. */
export type TableName = ListedTable["name"];
