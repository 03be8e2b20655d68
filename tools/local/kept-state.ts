import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { ClassicLevel } from "classic-level";
import * as z from "zod";
import { type StoredSecret, storedSecret } from "./servers/secret-store.ts";

/** Changes when a folder that was kept before cannot be read any more. */
const format = 1;

const startSchema = z.object({ data: z.string(), since: z.iso.datetime() });

/** What a folder has kept since its first start. */
type FirstStart = z.output<typeof startSchema>;

/**
 * The folder of `--keep`: what outlives the program that runs the service. Everything acknowledged has been handed to
 * the operating system, so it survives the end of the program, however abrupt, but not that of the machine.
 *
 * A folder has its data when the first start has imported them all; until then, every start begins anew.
 */
export class KeptState {
  readonly folder: string;
  /** Where the embedded servers keep their tables and messages. */
  readonly tables: string;
  readonly queues: string;
  /** The secrets of earlier starts. */
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
   * Opens a folder for this program alone, as long as it runs; a folder that is not there is made.
   * @param data the folder whose data the first start imports, if the user names one.
   * @throws {Error} saying what to do, when another program uses the folder, or it holds something else.
   */
  static async open(folder: string, data: string | undefined): Promise<KeptState> {
    const service = join(folder, "service");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!existsSync(service) && readdirSync(folder).length > 0) {
      throw new Error(`${folder} has other files: --keep takes an empty folder, or one that it has made`);
    }
    // Keys that sign tokens: LevelDB would let everybody read them.
    mkdirSync(service, { recursive: true, mode: 0o700 });
    const db = await openAlone(service, folder);
    try {
      const found = await db.get("format");
      if (found !== undefined && found !== format) {
        throw new Error(`${folder} was kept by another version of the service: choose another folder`);
      }
      const firstStart = startSchema.optional().parse(await db.get("first-start"));
      if (firstStart !== undefined && data !== undefined && firstStart.data !== resolve(data)) {
        throw new Error(
          `${folder} has the data of ${firstStart.data} already: leave out --data, or choose another folder`,
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

  /** Notes that the data are imported: no later start imports them again. */
  async finishFirstStart(data: string, now: Date): Promise<void> {
    const firstStart: FirstStart = { data: resolve(data), since: now.toISOString() };
    await this.#db.put("first-start", firstStart);
  }

  /** Replaces the secrets; of several calls at once the last one counts. */
  async keepSecrets(secrets: readonly StoredSecret[]): Promise<void> {
    this.#written = this.#written.then(() => this.#db.put("secrets", secrets));
    await this.#written;
  }

  /** Lets other programs use the folder. */
  async close(): Promise<void> {
    await this.#db.close();
  }
}

/** LevelDB locks its folder until it is closed or its program ends. */
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
