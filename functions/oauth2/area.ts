import { area } from "../../shared/area.ts";
import { issueToken, publishMetadata } from "./contract.ts";
import { clients, usedAssertions } from "./tables.ts";

/** Access tokens for clients that prove who they are with a key. */
export const oauth2Area = area({
  name: "oauth2",
  title: "OAuth 2.0",
  about: "Access tokens for clients that prove who they are with a key.",
  endpoints: [issueToken, publishMetadata],
  scopes: {},
  tables: [clients, usedAssertions],
});
