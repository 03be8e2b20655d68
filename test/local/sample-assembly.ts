import { join } from "node:path";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { cachedFolder, installed } from "../../tools/build-cache.ts";
import type { SampleOptions } from "./sample-app.ts";

/** A synthesized stack in a temporary folder. */
export interface SampleAssembly {
  readonly directory: string;
  remove(): void;
}

const made = ["sample-app.ts", "sample-queues.ts", "sample-stream.ts"].map((file) => `test/local/${file}`);
/** The sources of the sample stack. */
export const sampleSources = [...made, ...installed];

/** A sample stack, synthesized again only when its sources have changed: importing CDK takes longer than most tests. */
export async function sampleAssembly(options: SampleOptions = {}): Promise<SampleAssembly> {
  const folder = temporaryFolder("local-gateway-");
  const cached = cachedFolder("sample", { sources: sampleSources, settings: JSON.stringify(options) });
  if (!cached.restore(folder.path)) {
    const { synthesizeSample } = await import("./sample-app.ts");
    synthesizeSample(folder.path, options);
    cached.store(folder.path);
  }
  return { directory: join(folder.path, "cdk.out"), remove: () => folder.remove() };
}
