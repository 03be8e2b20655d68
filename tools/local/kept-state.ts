import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ClassicLevel } from "classic-level";
import * as z from "zod";
import { isFileError, unwritable } from "../../shared/import/unreadable.ts";
import { type StoredSecret, storedSecret } from "./servers/secret-store.ts";

/** Changes whenever folders kept by an earlier version can no longer be read. */
const format = 1;

const coveredPlace = z.object({
  /** As sentences name it: a place with its country, a box, or the path of a file. */
  name: z.string(),
  /** A covered point, where examples ask: its latitude and its longitude. */
  at: z.string(),
});

/** What is covered instead of the demo's city. */
export type CoveredPlace = z.output<typeof coveredPlace>;

/** Data are a folder, the demo's perhaps with another covered place. */
const startSchema = z.object({
  data: z.string(),
  around: coveredPlace.optional(),
  since: z.iso.datetime(),
});

/** The data that a folder began with, and when. */
type FirstStart = z.output<typeof startSchema>;

/**
 * The folder of `--keep`: the state that outlives the program. Everything acknowledged has been handed to the operating
 * system, so it survives the program's end, however abrupt, but not a crash of the machine.
 *
 * A folder has data once the first start has imported all of it; until then, every start begins again.
 */
export class KeptState {
  readonly folder: string;
  /** Where the embedded servers keep their tables and messages. */
  readonly tables: string;
  readonly queues: string;
  /** Secrets created by earlier starts. */
  readonly secrets: readonly StoredSecret[];
  /** Undefined until the first start has imported its data. */
  readonly firstStart: FirstStart | undefined;
  readonly #db: ClassicLevel<string, unknown>;
  #written: Promise<void> = Promise.resolve();

  private constructor(
    folder: string,
    db: ClassicLevel<string, unknown>,
    firstStart: FirstStart | undefined,
    secrets: readonly StoredSecret[],
  ) {
    this.folder = folder;
    [this.tables, this.queues] = [join(folder, "tables"), join(folder, "queues")];
    this.#db = db;
    this.firstStart = firstStart;
    this.secrets = secrets;
  }

  /**
   * Opens a folder for the exclusive use of this program, creating it if needed.
   * @param wanted the folder that the user wants to be imported, or the name of the place to be covered, if any.
   * @throws {Error} saying what to do if another program uses the folder, it cannot be written, or it contains other files.
   */
  static async open(folder: string, wanted: string | undefined): Promise<KeptState> {
    const service = join(folder, "service");
    makeWritable(folder);
    if (!existsSync(service) && readdirSync(folder).length > 0) {
      throw new Error(
        `${folder} contains other files: --keep needs an empty folder, or one that it has created`,
      );
    }
    // It holds keys that sign tokens; LevelDB would create it readable by everybody.
    makeWritable(service);
    const db = await openAlone(service, folder);
    try {
      const found = await db.get("format");
      if (found !== undefined && found !== format) {
        throw new Error(`${folder} was created by another version of the service: choose another folder`);
      }
      const firstStart = startSchema.optional().parse(await db.get("first-start"));
      const had = firstStart?.around?.name ?? firstStart?.data;
      if (had !== undefined && wanted !== undefined && had !== wanted) {
        throw new Error(
          `${folder} already has the data of ${had}: leave out --data and --around, or choose another folder`,
        );
      }
      const secrets = firstStart === undefined ? [] : z.array(storedSecret).parse(await db.get("secrets"));
      const kept = new KeptState(folder, db, firstStart, secrets);
      if (firstStart === undefined) {
        for (const unfinished of [kept.tables, kept.queues]) {
          rmSync(unfinished, { recursive: true, force: true });
          mkdirSync(unfinished, { mode: 0o700 });
        }
        await db.put("format", format);
      }
      return kept;
    } catch (error) {
      await db.close();
      throw error;
    }
  }

  /** Records that the data has been imported, so that no later start imports it again. */
  async finishFirstStart(data: string, now: Date, around?: CoveredPlace): Promise<void> {
    const firstStart = startSchema.parse({ data: resolve(data), around, since: now.toISOString() });
    await this.#db.put("first-start", firstStart);
  }

  /** Replaces the secrets; the last of several concurrent calls wins. */
  async keepSecrets(secrets: readonly StoredSecret[]): Promise<void> {
    this.#written = this.#written.then(() => this.#db.put("secrets", secrets));
    await this.#written;
  }

  /** Releases the folder. */
  async close(): Promise<void> {
    await this.#db.close();
  }
}

/** @throws {Error} naming the folder, and why nothing can be kept there. */
function makeWritable(folder: string): void {
  let there = folder;
  while (!existsSync(there)) there = dirname(there);
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new Error(`--keep: ${folder} ${unwritable(error.code, folder)}`, { cause: error });
  }
}

/** LevelDB locks its folder until it is closed or the process ends. */
async function openAlone(location: string, folder: string): Promise<ClassicLevel<string, unknown>> {
  const db = new ClassicLevel<string, unknown>(location, { valueEncoding: "json" });
  try {
    await db.open();
    return db;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const isLocked = cause instanceof Error && "code" in cause && cause.code === "LEVEL_LOCKED";
    const reason = isLocked
      ? "is in use: stop the other npm start, or choose another folder"
      : `cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new Error(`${folder} ${reason}`, { cause: error });
  }
}
