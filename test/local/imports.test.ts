import { build } from "esbuild";
import { expect, test } from "vitest";
import { functionIds, handlerPath } from "../../infra/bundles.ts";

/** The files that run when these do, and import CDK. */
async function importingCdk(entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints,
    outdir: "node_modules/.cache",
    write: false,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    packages: "external",
    metafile: true,
  });
  const files = Object.entries(metafile.inputs);
  const ofCdk = ({ path }: { path: string }) => /^(?:aws-cdk-lib|constructs)(?:\/|$)/.test(path);
  return files.flatMap(([file, { imports }]) => (imports.some(ofCdk) ? file : []));
}

test("npm start, its threads and its handlers import no CDK, which takes longer to start than they do", async () => {
  const threads = ["declared/declarations", "servers/database", "servers/queue"].map(
    (name) => `${name}-thread.mjs`,
  );
  const local = ["start.ts", ...threads, "lambda/function-runtime.mjs"].map((file) => `tools/local/${file}`);
  expect(await importingCdk(["infra/stack.ts"])).toContain("infra/stack.ts");
  expect(await importingCdk([...local, ...functionIds.map(handlerPath)])).toEqual([]);
});
