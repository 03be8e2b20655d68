import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** A program started with npm as a person does, in a process group and a folder for temporary files of its own. */
export interface NpmProgram {
  readonly child: ChildProcess;
  /** What it has written to standard output so far. */
  readonly output: () => string;
  /** What it has written to standard error so far. */
  readonly errors: () => string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /**
   * Ends when the program listens for signals, and npm therefore passes them on. One that npm alone gets at the moment
   * when it starts the program ends npm, but not the program.
   */
  readonly listeningForSignals: () => Promise<void>;
  /** A signal to every process of the group, as a terminal sends it. */
  signalGroup(signal: NodeJS.Signals): void;
  /** Its processes that still run, also those that have left the group. */
  processes(): readonly number[];
  /** Temporary files and folders of it that are there. */
  temporary(): readonly string[];
  /** Ends what still runs. */
  remove(): void;
}

/** Where Node.js keeps what it has compiled for programs that ask it to, among temporary files. */
const compiled = "node-compile-cache";

/** Starts `npm …`. */
export function npm(args: readonly string[], environment: NodeJS.ProcessEnv = {}): NpmProgram {
  const folder = mkdtempSync(join(tmpdir(), "npm-program-"));
  const child = spawn("npm", args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      AWS_ENDPOINT_URL_DYNAMODB: "",
      AWS_ENDPOINT_URL_SQS: "",
      ...environment,
      TMPDIR: folder,
    },
  });
  const written: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => written.push(text));
  const errors: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => errors.push(text));
  const processes = () =>
    isGroupAlive(child) ? [child.pid as number, ...withTemporary(folder)] : withTemporary(folder);
  return {
    child,
    output: () => written.join(""),
    errors: () => errors.join(""),
    ended: once(child, "exit").then(([code, signal]) => code ?? signal),
    listeningForSignals: async () => {
      if (process.platform !== "linux") return await wait(3_000);
      while (isGroupAlive(child) && !withTemporary(folder).some(catchesHangup)) await wait(5);
    },
    signalGroup: (signal) => process.kill(-(child.pid as number), signal),
    processes: () => [...new Set(processes())],
    temporary: () => readdirSync(folder).filter((name) => name !== compiled),
    remove: () => {
      for (const pid of processes()) killAnyway(pid);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Resident memory of processes in MB, as Linux tells it. */
export function residentMegabytes(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0));
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1_024;
}

/** Bit 0 of a process's mask of caught signals is that of SIGHUP, which Node.js does not catch for itself. */
function catchesHangup(pid: number): boolean {
  return /SigCgt:\s+[0-9a-f]+[13579bdf]\n/.test(read(`/proc/${pid}/status`));
}

/** Processes that were started with this folder for temporary files; none on systems that do not tell. */
function withTemporary(folder: string): number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const has = (pid: string) => `\0${read(`/proc/${pid}/environ`)}`.includes(`\0TMPDIR=${folder}\0`);
  return pids.filter(has).map(Number);
}

/** Empty for a process that has gone, or is of somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isGroupAlive(child: ChildProcess): boolean {
  try {
    return process.kill(-(child.pid as number), 0);
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

function killAnyway(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ESRCH";
}
