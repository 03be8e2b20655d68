import { basename } from "node:path";
import * as z from "zod";
import {
  changedThresholds,
  defaultThresholds,
  type JudgementThresholds,
} from "../../../functions/population-density/import/judge/thresholds.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { readJsonAs } from "../json-file.ts";

/**
 * Reads thresholds of the judgement of imports; those that the file does not have are the defaults.
 * @throws {ImportError} naming what is refused.
 */
export async function readThresholds(path: string): Promise<JudgementThresholds> {
  const content = await readJsonAs(z.record(z.string(), z.unknown()), path);
  const { data, error } = changedThresholds.safeParse(content);
  if (error !== undefined) {
    const file = basename(path);
    throw new ImportError(
      error.issues.map(({ path: place, message }) =>
        place.length === 0 ? `${file}: ${message}` : `${file}: ${place.join(".")}: ${message}`,
      ),
    );
  }
  const set = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
  return { ...defaultThresholds, ...set };
}
