import { writeFile } from "node:fs/promises";
import { isFileError, unwritable } from "../../shared/import/unreadable.ts";

/**
 * Writes what `--out` names.
 * @param options such as `wx` for a file that must be new.
 * @throws {Error} that says why it cannot be written.
 */
export async function writeOut(
  file: string,
  content: string | Uint8Array,
  options: { readonly flag?: "wx"; readonly mode?: number } = {},
): Promise<void> {
  await writeFile(file, content, options).catch((error: unknown) => {
    throw isFileError(error)
      ? new Error(`--out: ${file} ${unwritable(error.code)}`, { cause: error })
      : error;
  });
}
