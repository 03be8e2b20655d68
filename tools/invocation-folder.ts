import { resolve } from "node:path";

/**
 * A path as the person means it: `npm run` starts programs in the project's folder, wherever the person stands.
 * https://docs.npmjs.com/cli/commands/npm-run-script
 */
export function fromInvocationFolder(path: string): string {
  return resolve(process.env.INIT_CWD ?? ".", path);
}
