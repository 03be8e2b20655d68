import { type Stats, statSync } from "node:fs";
import { isFileError } from "../../shared/import/unreadable.ts";

/**
 * Undefined for a file that cannot be found: it is absent, its name is too long, its links lead to each other. Reading
 * it says why.
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
