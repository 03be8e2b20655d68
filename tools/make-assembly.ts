/** Builds the functions into one folder, and synthesizes the stack of a local run into another. */
import { buildFunctions } from "./build.ts";

const [bundles, outdir, TOKEN_ENDPOINT] = process.argv.slice(2);
if (bundles === undefined || outdir === undefined || TOKEN_ENDPOINT === undefined) {
  throw new Error("usage: make-assembly BUNDLES ASSEMBLY on|off");
}
// CDK takes as long to load as the functions take to build.
const [{ networkCapabilities }, { localSettings }] = await Promise.all([
  import("../infra/app.ts"),
  import("../infra/settings.ts"),
  buildFunctions(bundles),
]);
const settings = { stage: "dev", ...localSettings, TOKEN_ENDPOINT };
networkCapabilities({ outdir, bundles, settings, validation: false }).synth();
