import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { vi } from "vitest";
import { chosenPort } from "../../tools/local/servers/listening-server.ts";
import { demoLogin } from "../support/demo-login.ts";
import type { Fence } from "./fences.ts";

/** The program that runs the blocks of one language of a document, one after the other. */
interface Interpreter {
  /** Code between blocks that prints a separator, also when a block's output ends without a line break. */
  readonly divider: (line: string) => string;
  /** The program's file name and the command that runs it. */
  readonly file: string;
  readonly command: (file: string) => readonly [string, ...string[]];
  /** The programs that its blocks call. */
  readonly calls?: string;
}

const node = [process.execPath, "--no-warnings"] as const;

/** How blocks of each language are run. */
export const interpreters: Readonly<Record<string, Interpreter>> = {
  // A failed command ends the program.
  sh: {
    divider: (line) => `set -eo pipefail\nprintf '\\n%s\\n' '${line}'\nprintf '\\n%s\\n' '${line}' >&2\n`,
    file: "blocks.sh",
    command: (file) => ["bash", file],
    calls: "curl",
  },
  js: {
    divider: (line) => `process.stdout.write(${JSON.stringify(`\n${line}\n`)});\n`,
    file: "blocks.mjs",
    command: (file) => [...node, file],
  },
  ts: {
    divider: (line) => `process.stdout.write(${JSON.stringify(`\n${line}\n`)});\n`,
    file: "blocks.mts",
    command: (file) => [...node, file],
  },
  python: {
    divider: (line) => `print(${JSON.stringify(`\n${line}`)}, flush=True)\n`,
    file: "blocks.py",
    command: (file) => ["python3", file],
  },
};

const installed = new Map<string, boolean>([[process.execPath, true]]);

/** Whether this machine has the programs that a language needs. */
export function isInstalled(language: string): boolean {
  const { command, calls } = interpreters[language] as Interpreter;
  const programs = [command("")[0], calls].filter((program) => program !== undefined);
  return programs.every((program) => {
    const known = installed.get(program) ?? spawnSync(program, ["--version"]).status === 0;
    installed.set(program, known);
    return known;
  });
}

const separator = "=== block";

/** The time limit of a program, which takes a few seconds on an idle machine. */
export const sessionMilliseconds = 120_000;

/** The result of a session. */
export interface SessionResult {
  /** 0 unless a block failed. */
  readonly code: number | null;
  /** The standard output of each block that has run. */
  readonly outputs: ReadonlyMap<Fence, string>;
  readonly stderr: string;
  /** The HTTP statuses that `curl` received in each shell block. */
  readonly statuses: ReadonlyMap<Fence, readonly number[]>;
}

/** The ports of sinks in documents. */
const documented = ["8080", "8081"];

/** A folder in which the blocks of one document run, against a service and with sinks of its own. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), "network-capabilities-docs-"));
  readonly #service: string;
  readonly #login: string;
  readonly #servers = new Map<Fence, { readonly child: ChildProcess; output: string }>();
  /** Ports of this machine by the ports in documents. */
  readonly #ports = new Map<string, string>();

  /** @param login whose password is that of the demo's application: the documents change what only their reader has. */
  constructor(service: string, login: string) {
    this.#service = service;
    this.#login = login;
    for (const name of ["client", "node_modules", "tools"])
      symlinkSync(resolve(name), join(this.folder, name), "junction");
    // Records each response's status, which `curl --silent` does not show.
    mkdirSync(join(this.folder, "curl"));
    for (const name of [".curlrc", "_curlrc"]) {
      writeFileSync(join(this.folder, "curl", name), 'write-out = "%{stderr}curl got %{http_code}\\n"\n');
    }
  }

  /**
   * The address of a local run in a document is that of the service under test, and the ports for sinks are free ones.
   */
  textOf({ text }: Fence): string {
    const withService = text.replaceAll("http://127.0.0.1:3000", this.#service);
    return documented.reduce(
      (replaced, port) =>
        replaced.replaceAll(new RegExp(`\\b${port}\\b`, "g"), this.#ports.get(port) ?? port),
      withService,
    );
  }

  /** A program in TypeScript shows nothing of its login, and has one of its own. */
  #programOf(fence: Fence): string {
    const text = this.textOf(fence);
    return fence.language === "ts" ? text.replaceAll(demoLogin.emailaddress, this.#login) : text;
  }

  /** Saves what the document says is a file, and starts what it says is a server. */
  async prepare(fences: readonly Fence[]): Promise<void> {
    const ports = new Set<number>();
    while (ports.size < documented.length) ports.add(await chosenPort(0));
    for (const [index, port] of [...ports].entries()) this.#ports.set(documented[index] ?? "", `${port}`);
    for (const fence of fences) {
      const name = fence.marks.get("file") ?? fence.marks.get("server");
      if (name === undefined) continue;
      writeFileSync(join(this.folder, name), this.textOf(fence));
      if (fence.marks.has("server")) await this.#start(fence, name);
    }
  }

  async #start(fence: Fence, name: string): Promise<void> {
    const [program, ...args] = (interpreters[fence.language] as Interpreter).command(name);
    const child = spawn(program, args, { cwd: this.folder, stdio: ["ignore", "pipe", "inherit"] });
    const server = { child, output: "" };
    this.#servers.set(fence, server);
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      server.output += text;
    });
    await vi.waitFor(() => reach(Number(this.#ports.get("8080"))), { timeout: 100_000, interval: 50 });
  }

  /** What a server has written so far. */
  outputOf(server: Fence): string {
    return this.#servers.get(server)?.output ?? "";
  }

  /** Runs blocks of one language as one program. */
  async run(language: string, fences: readonly Fence[]): Promise<SessionResult> {
    const { divider, file, command } = interpreters[language] as Interpreter;
    const program = fences.map(
      (fence, index) => `${divider(`${separator} ${index}`)}${this.#programOf(fence)}\n`,
    );
    writeFileSync(join(this.folder, file), program.join("\n"));
    const [name, ...args] = command(file);
    const { code, stdout, stderr } = await this.#ended(name, args);
    const partsOf = (text: string) => text.split(new RegExp(`^${separator} \\d+\\n`, "m")).slice(1);
    const outputs = partsOf(stdout);
    const errors = partsOf(stderr);
    return {
      code,
      outputs: new Map(fences.slice(0, outputs.length).map((fence, index) => [fence, outputs[index] ?? ""])),
      stderr,
      statuses: new Map(errors.map((text, index) => [fences[index] as Fence, statusesIn(text)])),
    };
  }

  #ended(name: string, args: readonly string[]) {
    return new Promise<{ code: number | null; stdout: string; stderr: string }>((settle, reject) => {
      const child = spawn(name, args, {
        cwd: this.folder,
        env: { ...process.env, CURL_HOME: join(this.folder, "curl"), NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: sessionMilliseconds,
      });
      const written = { stdout: "", stderr: "" };
      for (const stream of ["stdout", "stderr"] as const) {
        child[stream].setEncoding("utf8").on("data", (text: string) => {
          written[stream] += text;
        });
      }
      child.once("error", reject);
      child.once("close", (code) => settle({ code, ...written }));
    });
  }

  /** Ends servers, and removes the folder. */
  remove(): void {
    for (const { child } of this.#servers.values()) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function statusesIn(text: string): readonly number[] {
  return [...text.matchAll(/^curl got (\d+)$/gm)].map(([, status]) => Number(status));
}

function reach(port: number): Promise<void> {
  return new Promise((settle, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      settle();
    });
    socket.once("error", reject);
  });
}
