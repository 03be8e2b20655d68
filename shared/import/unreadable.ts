/** Whether an error is one of the file system, not of the program. */
export function isFileError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Explains why a file cannot be read, by the code of Node.js's error. */
export function unreadable(code: unknown): string {
  return `cannot be read: ${code}${code === "ENOENT" ? ", no such file or folder" : ""}`;
}
