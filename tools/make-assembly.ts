/** Builds the functions into one folder, and synthesizes the stack of a stage into another. */
import type { Stage } from "../infra/stage.ts";
import { buildFunctions } from "./build.ts";

const [bundles, outdir, stage] = process.argv.slice(2);
if (bundles === undefined || outdir === undefined || (stage !== "dev" && stage !== "prod")) {
  throw new Error("usage: make-assembly BUNDLES ASSEMBLY dev|prod");
}
// CDK takes as long to load as the functions take to build.
const [{ networkCapabilities }] = await Promise.all([import("../infra/app.ts"), buildFunctions(bundles)]);
networkCapabilities({ outdir, bundles, stage: stage satisfies Stage, validation: false }).synth();
