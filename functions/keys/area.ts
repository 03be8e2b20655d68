import { area } from "../../shared/area.ts";
import { publishKeys } from "./contract.ts";

/** The public keys that verify access tokens. */
export const keysArea = area({
  name: "keys",
  title: "Token Keys",
  about: "The public keys that verify access tokens.",
  endpoints: [publishKeys],
  scopes: {},
  tables: [],
});
