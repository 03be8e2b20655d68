import { resolve } from "node:path";

/** Whether an error is one of the file system, not of the program. */
export function isFileError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** A source of rows that cannot be read to its end; the message says why, as an operator reads it. */
export class Unreadable extends Error {}

/** Why a source cannot be read; undefined for an error of the program. */
export function unreadableFor(error: unknown): string | undefined {
  if (error instanceof Unreadable) return error.message;
  return isFileError(error) ? unreadable(error.code) : undefined;
}

const explained: Readonly<Record<string, string>> = {
  EACCES: "you have no right to it",
  EDQUOT: "your share of the disk is used up",
  EEXIST: "it is there already",
  EISDIR: "a folder where a file is expected",
  ENOENT: "no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a file where a folder is expected",
  EPERM: "you have no right to it",
  EROFS: "the disk is read-only",
};

/** Explains why a file cannot be read, by the code of Node.js's error. */
export function unreadable(code: unknown): string {
  return `cannot be read: ${withExplanation(code)}`;
}

/**
 * Explains why a file cannot be written, by the code of Node.js's error.
 * @param folder where it is: named if the reason is its disk.
 */
export function unwritable(code: unknown, folder?: string): string {
  const reason = `cannot be written: ${withExplanation(code)}`;
  return folder === undefined ? reason : reason.replace("the disk", `the disk of ${resolve(folder)}`);
}

function withExplanation(code: unknown): string {
  const explanation = explained[String(code)];
  return explanation === undefined ? String(code) : `${code}, ${explanation}`;
}
