import document from "../../docs/openapi.json" with { type: "json" };
import { serve } from "../../shared/http/serve.ts";
import { publishCatalog, publishDocument } from "./contract.ts";

/** The path that the operations of an API have in common: its name, with a version before or behind it. */
const basePath = /^(?:\/v[\d.]+)?\/(?!\.)[^/]+(?:\/v[\d.]+)?(?=\/)/;

const bases = [...new Set(Object.keys(document.paths).flatMap((path) => basePath.exec(path) ?? []))];

/** Serves the links to the APIs at the address that was asked; relative ones if the event does not say which. */
export const handler = serve(publishCatalog, async ({ address = "", reply }) => {
  const apis = bases.map((base) => `${address}${base}`);
  const description = { href: `${address}${publishDocument.path}`, type: "application/json" };
  return reply(200, {
    linkset: [
      { anchor: `${address}${publishCatalog.path}`, item: apis.map((href) => ({ href })) },
      ...apis.map((anchor) => ({ anchor, "service-desc": [description] })),
    ],
  });
});
