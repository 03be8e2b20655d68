import document from "../../docs/openapi.json" with { type: "json" };
import { serve } from "../../shared/http/serve.ts";
import { publishDocument } from "./contract.ts";

/** Serves the document that `npm run docs` made of the declarations, as it was when the function was bundled. */
export const handler = serve(publishDocument, async ({ address, reply }) => {
  const asked = address === undefined ? [] : [{ url: address, description: "The server that was asked." }];
  const others = document.servers.filter(({ url }) => url !== address);
  return reply(200, { ...document, servers: [...asked, ...others] });
});
