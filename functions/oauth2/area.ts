import { area } from "../../shared/area.ts";
import { issueToken, publishMetadata } from "./contract.ts";
import { clients, usedAssertions } from "./tables.ts";

/** Access tokens for clients that prove who they are with a key. */
export const oauth2Area = area({
  name: "oauth2",
  title: "Tokens for Clients",
  about: "Access tokens for clients that prove who they are with a key (OAuth 2.0).",
  endpoints: [issueToken, publishMetadata],
  scopes: {},
  tables: [clients, usedAssertions],
});
