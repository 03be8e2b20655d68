import { readFile } from "node:fs/promises";
import { unreadable } from "../shared/import/unreadable.ts";

/** The value that a text is as JSON; undefined if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The text of a file that a person has named.
 * @throws {Error} with the name, and why it cannot be read.
 */
export async function textOf(path: string, named = path): Promise<string> {
  return await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${named} ${unreadable(error.code)}`);
  });
}
