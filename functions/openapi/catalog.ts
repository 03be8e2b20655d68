import { serve } from "../../shared/http/serve.ts";
import { publishCatalog, publishDocument } from "./contract.ts";
import { servedDocument } from "./document.ts";
import { apiPaths } from "./token-endpoint.ts";

/** The path that the operations of an API have in common: its name, with a version before or behind it. */
const basePath = /^(?:\/v[\d.]+)?\/(?!\.)[^/]+(?:\/v[\d.]+)?(?=\/)/;

/** Serves the links to the APIs at the address that was asked; relative ones if the event does not say which. */
export const handler = serve(publishCatalog, async ({ address = "", reply }) => {
  const bases = new Set(
    Object.keys(apiPaths(await servedDocument())).flatMap((path) => basePath.exec(path) ?? []),
  );
  const apis = [...bases].map((base) => `${address}${base}`);
  const description = { href: `${address}${publishDocument.path}`, type: "application/json" };
  const documents = [
    { href: `${address}/reference`, type: "text/html" },
    { href: `${address}/llms.txt`, type: "text/plain" },
  ];
  return reply(200, {
    linkset: [
      { anchor: `${address}${publishCatalog.path}`, item: apis.map((href) => ({ href })) },
      ...apis.map((anchor) => ({ anchor, "service-desc": [description], "service-doc": documents })),
    ],
  });
});
