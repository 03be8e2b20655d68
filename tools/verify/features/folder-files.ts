import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isFileError, unreadable } from "../../../shared/import/unreadable.ts";

/**
 * The files of a folder whose names match, in the order of their names.
 * @throws {Error} naming the folder that cannot be read.
 */
export async function filesIn(
  folder: string,
  wanted: RegExp,
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  try {
    const names = (await readdir(folder)).filter((name) => wanted.test(name)).sort();
    return await Promise.all(
      names.map(async (name) => ({ name, text: await readFile(join(folder, name), "utf8") })),
    );
  } catch (error) {
    if (isFileError(error)) throw new Error(`${folder} ${unreadable(error.code)}`, { cause: error });
    throw error;
  }
}
