import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for the time that a program runs. */
export interface TemporaryFolder {
  readonly path: string;
  readonly remove: () => void;
}

/** Makes an empty folder that is removed at the latest when the program exits, also when it does so amid its work. */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
  // Tried again while a child that has just been ended is still writing its last file.
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
