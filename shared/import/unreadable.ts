/** Says why a file cannot be read, by the code of the error of Node.js. */
export function unreadable(code: unknown): string {
  return `cannot be read: ${code}${code === "ENOENT" ? ", no such file or folder" : ""}`;
}
