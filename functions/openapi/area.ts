import { area } from "../../shared/area.ts";
import { publishCatalog, publishDocument } from "./contract.ts";

/** What the service offers, for programs to read. */
export const openApiArea = area({
  name: "openapi",
  title: "API Documents",
  about: "What the service offers, for programs to read.",
  endpoints: [publishDocument, publishCatalog],
  scopes: {},
  tables: [],
});
