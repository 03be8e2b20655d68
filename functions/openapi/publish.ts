import document from "../../docs/openapi.json" with { type: "json" };
import { serve } from "../../shared/http/serve.ts";
import { publishDocument } from "./contract.ts";
import { withTimesAbout } from "./example-times.ts";

const withoutAliases = {
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths).filter(([, item]) => !JSON.stringify(item).includes('"x-alias-of"')),
  ),
};

/** Serves the document that `npm run docs` made of the declarations, as it was when the function was bundled. */
export const handler = serve(publishDocument, async ({ address, query, now, reply }) => {
  const wanted = withTimesAbout(now, query.aliases === "false" ? withoutAliases : document);
  const asked = address === undefined ? [] : [{ url: address, description: "The server that was asked." }];
  const others = document.servers.filter(({ url }) => url !== address);
  return reply(200, { ...wanted, servers: [...asked, ...others] });
});
