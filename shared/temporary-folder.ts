import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isFileError, unwritable } from "./import/unreadable.ts";

/** A folder that lives no longer than the program. */
export interface TemporaryFolder {
  readonly path: string;
  readonly remove: () => void;
}

/**
 * Appends to a file in a temporary folder.
 * @throws {Error} that names the folder, and says why it takes no more.
 */
export function appendTemporary(path: string, content: string | Uint8Array): void {
  naming(dirname(path), () => appendFileSync(path, content, { mode: 0o600 }));
}

function naming<Result>(folder: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    if (!isFileError(error)) throw error;
    const reason = unwritable(error.code, folder);
    throw new Error(`a temporary file in ${folder} ${reason}; TMPDIR can name another`, { cause: error });
  }
}

/** Creates an empty folder that is removed when the program exits, at the latest. */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = naming(tmpdir(), () => mkdtempSync(join(tmpdir(), prefix)));
  // Retries, because a child process that was just ended may still be writing its last file.
  const discard = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.once("exit", discard);
  return {
    path,
    remove: () => {
      process.off("exit", discard);
      discard();
    },
  };
}
