import { copyFileSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { cachedFolder, installed } from "../build-cache.ts";
import { runProgram } from "../child-program.ts";
import { importedFiles } from "../imported-files.ts";

/** The files from which the pages are made. */
export function pageSources(): readonly string[] {
  const data = ["docs/llms.txt", "tools/demo/density-model.json", "tools/demo/subscriber-token.mjs"];
  const code = ["tools/build-console.ts", "console/main.ts"].flatMap(importedFiles);
  return [...new Set(["console", ...data, ...code, ...installed, "tsconfig.json"])];
}

/**
 * The pages and assets that the console's function serves, in a folder of their own. They are built when they are first
 * asked for: a start waits for nothing that only a browser needs.
 */
export class Pages {
  /** Its text for agents is there from the beginning. */
  readonly folder: string;
  readonly remove: () => void;
  readonly #say: (text: string) => void;
  #building: Promise<void> | undefined;

  /** @param say tells the person that a build takes a while. */
  constructor(say: (text: string) => void) {
    const { path, remove } = temporaryFolder("network-capabilities-pages-");
    [this.folder, this.remove] = [path, remove];
    this.#say = say;
    copyFileSync(fileURLToPath(new URL("../../docs/llms.txt", import.meta.url)), join(path, "llms.txt"));
  }

  /**
   * Resolves when they are there. After a failure the next call tries again.
   * @throws {Error} that says what is wrong with their sources.
   */
  async built(): Promise<void> {
    this.#building ??= this.#build();
    try {
      await this.#building;
    } catch (error) {
      this.#building = undefined;
      throw error;
    }
  }

  async #build(): Promise<void> {
    const { path, remove } = temporaryFolder("network-capabilities-build-");
    try {
      const cached = cachedFolder("pages", { sources: pageSources() });
      if (!cached.restore(path)) {
        this.#say("Building the map, once…");
        await runProgram(new URL("../build-console.ts", import.meta.url), [path]);
        cached.store(path);
      }
      for (const name of readdirSync(path)) renameSync(join(path, name), join(this.folder, name));
    } finally {
      remove();
    }
  }
}
