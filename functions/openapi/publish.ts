import { setting } from "../../shared/environment.ts";
import { serve } from "../../shared/http/serve.ts";
import { below, discoveryPath } from "../../shared/tokens/issuer.ts";
import { withClientScheme, withoutClientScheme } from "./client-scheme.ts";
import { publishDocument } from "./contract.ts";
import { servedDocument } from "./document.ts";
import { withTimesAbout } from "./example-times.ts";
import { withSandbox } from "./sandbox.ts";

/** Serves the OpenAPI document, with the address that was asked as its first server. */
export const handler = serve(publishDocument, async ({ address, query, now, reply }) => {
  const whole = await servedDocument();
  const wanted = withTimesAbout(now, query.aliases === "false" ? withoutAliases(whole) : whole);
  const described =
    setting("TOKEN_ENDPOINT") === "on"
      ? withClientScheme(wanted, below(setting("TOKEN_ISSUER"), discoveryPath))
      : withoutClientScheme(wanted);
  const asked = address === undefined ? [] : [{ url: address, description: "The server that was asked." }];
  const others = whole.servers.filter(({ url }) => url !== address);
  const shown = setting("SANDBOX") === "on" ? withSandbox(described) : described;
  return reply(200, { ...shown, servers: [...asked, ...others] });
});

/** Without the aliases and the schemas of their releases. */
function withoutAliases(document: Awaited<ReturnType<typeof servedDocument>>) {
  const paths = Object.entries(document.paths).filter(
    ([, item]) => !JSON.stringify(item).includes('"x-alias-of"'),
  );
  const schemas = Object.entries(document.components.schemas).filter(
    ([, schema]) => !("x-camara-release" in schema),
  );
  const components = { ...document.components, schemas: Object.fromEntries(schemas) };
  return { ...document, paths: Object.fromEntries(paths), components };
}
