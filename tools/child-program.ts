import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));

interface ProgramOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
}

/**
 * V8's defaults (threads that help to collect garbage, little room for new objects) cost these programs a sixth of
 * their processor time.
 */
const garbageFlags = ["--single-threaded-gc", "--min-semi-space-size=32", "--max-semi-space-size=64"];

/**
 * Runs a TypeScript program of the project in a process of its own, so that its memory is freed when it ends. Neither
 * it nor its children outlive this program.
 * @param options its environment, and what is told each line of its standard output.
 * @throws {Error} with what it wrote to standard error when it fails.
 */
export async function runProgram(
  file: URL,
  parameters: readonly string[],
  { environment = process.env, onLine }: ProgramOptions = {},
): Promise<void> {
  const isPosix = process.platform !== "win32";
  const child = spawn(process.execPath, [...garbageFlags, fileURLToPath(file), ...parameters], {
    cwd: project,
    // A group of its own, which can be ended as one.
    detached: isPosix,
    env: environment,
    stdio: ["ignore", onLine === undefined ? "ignore" : "pipe", "pipe"],
  });
  const end = () => endGroup(child, isPosix);
  // Before folders are removed that it writes into.
  process.prependOnceListener("exit", end);
  if (onLine !== undefined && child.stdout !== null) createInterface(child.stdout).on("line", onLine);
  let written = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
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
