import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { chmod, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isFileError, unwritable } from "../shared/import/unreadable.ts";

/** How a file is written. */
interface WriteOptions {
  /** `wx` for a file that must be new. */
  readonly flag?: "wx";
  readonly mode?: number;
}

/**
 * Writes what `--out` names: whole, or not at all. A file that is there keeps its content until the new one is
 * complete; a device or a pipe is written as it is.
 * @throws {Error} that says why it cannot be written, and names the folder where its disk is the reason.
 */
export async function writeOut(
  file: string,
  content: string | Uint8Array | AsyncIterable<string>,
  options: WriteOptions = {},
): Promise<void> {
  await explained(file, async () => {
    const there = await targetOf(file);
    if (there !== undefined && !there.isFile) return await writeFile(file, content, options);
    // Takes the name: nobody else can then.
    if (options.flag === "wx") await (await open(file, "wx", options.mode)).close();
    const discard = () => rmSync(file, { force: true });
    if (options.flag === "wx") process.once("exit", discard);
    try {
      await replace(there?.path ?? file, content, options.mode ?? there?.mode);
    } catch (error) {
      if (options.flag === "wx") discard();
      throw error;
    } finally {
      process.off("exit", discard);
    }
  });
}

/** @throws {Error} as `writeOut` does, before there is anything to write; the file stays as it is. */
export async function checkOut(file: string): Promise<void> {
  await explained(file, async () => {
    const there = await targetOf(file);
    if (there !== undefined) return await (await open(file, "r+")).close();
    await (await open(file, "wx")).close();
    await rm(file);
  });
}

/** What is there, behind symbolic links; undefined for nothing. */
async function targetOf(file: string) {
  try {
    const path = await realpath(file);
    const found = await stat(path);
    return { path, isFile: found.isFile(), mode: found.mode & 0o777 };
  } catch (error) {
    if (isFileError(error) && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes next to a file, and takes its place when everything is on disk. */
async function replace(
  path: string,
  content: string | Uint8Array | AsyncIterable<string>,
  mode: number | undefined,
): Promise<void> {
  const partial = join(dirname(path), `.ncs-${randomUUID()}`);
  const discard = () => rmSync(partial, { force: true });
  process.once("exit", discard);
  try {
    const file = await open(partial, "wx", 0o600);
    try {
      await writeFile(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(partial, mode ?? 0o666 & ~process.umask());
    await rename(partial, path);
  } finally {
    process.off("exit", discard);
    discard();
  }
}

async function explained(file: string, write: () => Promise<void>): Promise<void> {
  await write().catch((error: unknown) => {
    throw isFileError(error)
      ? new Error(`--out: ${file} ${unwritable(error.code, dirname(file))}`, { cause: error })
      : error;
  });
}
