import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";

/** A folder for the files of one file of tests. */
export interface OwnFolder {
  readonly path: string;
  /**
   * Writes a file and the folders on its way. Returns its path.
   * @param content text or bytes as they are, anything else as JSON.
   */
  readonly write: (name: string, content: unknown) => Promise<string>;
}

/** Gives the tests around the call a folder, which is removed after them. */
export function useOwnFolder(): OwnFolder {
  const { path, remove } = temporaryFolder("network-capabilities-tests-");
  afterAll(remove);
  return {
    path,
    write: async (name, content) => {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      const isRaw = typeof content === "string" || content instanceof Uint8Array;
      await writeFile(file, isRaw ? content : JSON.stringify(content));
      return file;
    },
  };
}
