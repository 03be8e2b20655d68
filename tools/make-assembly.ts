/**
 * Builds the functions into one folder, and synthesizes the stack of a local run into another. Writes a line of JSON with
 * how far it is after each step.
 */
import { bundledIds } from "../infra/bundles.ts";
import { type Building, buildFunctions } from "./build.ts";

const [bundles, outdir, TOKEN_ENDPOINT] = process.argv.slice(2);
if (bundles === undefined || outdir === undefined || TOKEN_ENDPOINT === undefined) {
  throw new Error("usage: make-assembly BUNDLES ASSEMBLY on|off");
}
const functions = bundledIds.length;
// The functions, the map, and the stack.
const all = functions + 2;
let done = 0;
const tell = () => console.log(JSON.stringify({ done, all, functions } satisfies Building));
const stepDone = () => {
  done += 1;
  tell();
};
tell();
// CDK takes as long to load as the functions take to build.
const [{ networkCapabilities }, { localSettings }] = await Promise.all([
  import("../infra/app.ts"),
  import("../infra/settings.ts"),
  buildFunctions(bundles, undefined, stepDone),
]);
const settings = { stage: "dev", ...localSettings, TOKEN_ENDPOINT };
networkCapabilities({ outdir, bundles, settings, validation: false }).synth();
stepDone();
