import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));

/**
 * Runs a TypeScript program of the project in a process of its own, so that its memory is freed when it ends. Neither
 * it nor its children outlive this program.
 * @param flags of Node.js.
 * @throws {Error} with what it wrote to standard error when it fails.
 */
export async function runProgram(
  file: URL,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  flags: readonly string[] = [],
): Promise<void> {
  const isPosix = process.platform !== "win32";
  const child = spawn(process.execPath, [...flags, fileURLToPath(file), ...parameters], {
    cwd: project,
    // A group of its own, which can be ended as one.
    detached: isPosix,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const end = () => endGroup(child, isPosix);
  // Before folders are removed that it writes into.
  process.prependOnceListener("exit", end);
  let written = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (code !== 0) throw new Error(written.trim() || `${fileURLToPath(file)} ended with ${code}`);
    process.stderr.write(written);
  } finally {
    process.off("exit", end);
  }
}

function endGroup(child: ChildProcess, isPosix: boolean): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (isPosix) process.kill(-child.pid, "SIGKILL");
  else child.kill("SIGKILL");
}
