/** Whether an error is one of the file system, not of the program. */
export function isFileError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && "code" in error && "syscall" in error;
}

const explained: Readonly<Record<string, string>> = {
  EACCES: "you have no right to it",
  EEXIST: "it is there already",
  EISDIR: "a folder where a file is expected",
  ENOENT: "no such file or folder",
  ENOTDIR: "a file where a folder is expected",
  EPERM: "you have no right to it",
};

/** Explains why a file cannot be read, by the code of Node.js's error. */
export function unreadable(code: unknown): string {
  return `cannot be read: ${withExplanation(code)}`;
}

/** Explains why a file cannot be written, by the code of Node.js's error. */
export function unwritable(code: unknown): string {
  return `cannot be written: ${withExplanation(code)}`;
}

function withExplanation(code: unknown): string {
  const explanation = explained[String(code)];
  return explanation === undefined ? String(code) : `${code}, ${explanation}`;
}
