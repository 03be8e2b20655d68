import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";

/** Where `npm run check:clients` has installed the generators. */
const installed = z.string("run npm run check:clients").parse(process.env.GENERATORS);

const run = promisify(execFile);

/** Runs a program of an installed package; throws with what it wrote if it fails. */
export async function runInstalled(
  name: string,
  parameters: readonly string[],
  cwd: string,
): Promise<string> {
  const { stdout } = await run(join(installed, "node_modules", ".bin", name), parameters, { cwd });
  return stdout;
}

const orval = z.object({ generate: z.custom<(options: unknown, workspace: string) => Promise<void>>() });

/** Makes a client with the generator's own `fetch`, for the first server of the document. */
export async function generateWithOrval(document: string, target: string, workspace: string): Promise<void> {
  const { generate } = orval.parse(createRequire(join(installed, "package.json"))("orval"));
  const baseUrl = { getBaseUrlFromSpecification: true };
  await generate({ input: document, output: { target, client: "fetch", baseUrl } }, workspace);
}

/** What a module that was written by a test exports. */
export async function imported(file: string): Promise<Readonly<Record<string, unknown>>> {
  return z.record(z.string(), z.unknown()).parse({ ...(await import(pathToFileURL(file).href)) });
}
