/** Whether the file system has failed, and not the program. */
export function isFileError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Says why a file cannot be read, by the code of the error of Node.js. */
export function unreadable(code: unknown): string {
  return `cannot be read: ${code}${code === "ENOENT" ? ", no such file or folder" : ""}`;
}
