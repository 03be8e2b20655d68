import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

/** The compiler's output, empty when there is no error. The compiler exits with 1 or 2 when there are errors. */
export function tsc(commandLine: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...commandLine], { cwd: root }, (error, stdout, stderr) => {
      if (error !== null && error.code !== 1 && error.code !== 2)
        reject(new Error(`${error.message} ${stderr}`));
      else resolve(stdout);
    });
  });
}
