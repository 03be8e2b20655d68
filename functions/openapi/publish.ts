import { setting } from "../../shared/environment.ts";
import { serve } from "../../shared/http/serve.ts";
import { below, discoveryPath } from "../../shared/tokens/issuer.ts";
import { EXAMPLES_AT } from "../../shared/variables/examples-at.ts";
import { SANDBOX } from "../../shared/variables/sandbox.ts";
import { TOKEN_ENDPOINT } from "../../shared/variables/token-endpoint.ts";
import { TOKEN_ISSUER } from "../../shared/variables/token-issuer.ts";
import { publishDocument } from "./contract.ts";
import { type ServedDocument, servedDocument, withoutUnused } from "./document.ts";
import { withPointsAround, withTimesAbout } from "./example-times.ts";
import { withSandbox } from "./sandbox.ts";
import { withoutTokenEndpoint, withTokenEndpoint } from "./token-endpoint.ts";

/** Serves the OpenAPI document, with the address that was asked as its first server. */
export const handler = serve(publishDocument, async ({ address, query, now, reply }) => {
  let document: ServedDocument = await servedDocument();
  if (query.aliases === "false") document = withoutAliases(document);
  document =
    setting(TOKEN_ENDPOINT) === "on"
      ? withTokenEndpoint(document, below(setting(TOKEN_ISSUER), discoveryPath))
      : withoutTokenEndpoint(document);
  document = withTimesAbout(now, document);
  const [latitude, longitude] = setting(EXAMPLES_AT);
  if (latitude !== undefined && longitude !== undefined) {
    document = withPointsAround(latitude, longitude, document);
  }
  if (setting(SANDBOX) === "on") document = withSandbox(document);
  return reply(200, withFirstServer(document, address));
});

function withoutAliases(document: ServedDocument): ServedDocument {
  const paths = Object.entries(document.paths).filter(
    ([, item]) => !JSON.stringify(item).includes('"x-alias-of"'),
  );
  return withoutUnused({ ...document, paths: Object.fromEntries(paths) });
}

/** With the address that was asked, where the event says which, as the first server. */
function withFirstServer(document: ServedDocument, url: string | undefined) {
  const first = url === undefined ? [] : [{ url, description: "The server that was asked." }];
  return { ...document, servers: [...first, ...document.servers.filter((server) => server.url !== url)] };
}
