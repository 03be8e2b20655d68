/** Synthesizes once what several files of tests look at: CDK takes longer to start than to synthesize. */
import { writeSharedTemplates } from "./shared-templates.ts";

const [bundles, into] = process.argv.slice(2);
if (bundles === undefined || into === undefined) throw new Error("usage: make-templates BUNDLES FOLDER");
writeSharedTemplates(bundles, into);
