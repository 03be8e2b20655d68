import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as z from "zod";
import type { FunctionId } from "../infra/access.ts";
import { functionIds } from "../infra/bundles.ts";

/** An event on disk: which function it is for, what must come back, and the environment that makes it so. */
export interface EventFile {
  readonly functionId: FunctionId;
  readonly status: number;
  /** The error code in lower case with dashes, and perhaps more; for a success the case alone. */
  readonly outcome: string;
  readonly event: unknown;
  /** Variables that differ from the stack's, from `<name>.env.json` beside the event. */
  readonly environment: Readonly<Record<string, string>> | undefined;
}

const name = /^(?<operation>[a-z-]+)\.(?<status>\d{3})-(?<outcome>[a-z0-9-]+)\.json$/;

/**
 * Reads `events/<area>/<operation>.<status>-<case>.json`.
 * @throws {Error} when the file's name does not say what must come back, or names no function.
 */
export async function readEventFile(path: string): Promise<EventFile> {
  const { operation = "", status, outcome = "" } = name.exec(basename(path))?.groups ?? {};
  const functionId = functionIds.find((id) => id === `${basename(dirname(path))}/${operation}`);
  if (functionId === undefined)
    throw new Error(`${path} is not named <area>/<operation>.<status>-<case>.json`);
  const environmentFile = path.replace(/\.json$/, ".env.json");
  return {
    functionId,
    status: Number(status),
    outcome,
    event: JSON.parse(await readFile(path, "utf8")),
    environment: existsSync(environmentFile)
      ? z.record(z.string(), z.string()).parse(JSON.parse(await readFile(environmentFile, "utf8")))
      : undefined,
  };
}
