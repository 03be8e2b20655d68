import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that lives no longer than the program. */
export interface TemporaryFolder {
  readonly path: string;
  readonly remove: () => void;
}

/** Creates an empty folder that is removed when the program exits, at the latest. */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
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
