import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { promisify } from "node:util";
import { hourMilliseconds } from "../../shared/calendar.ts";
import { tokenOf } from "../calls/login.ts";
import { type DemoLogin, demoLogins } from "../demo-logins.ts";

const readyMilliseconds = 120_000;

/** A server in a process of its own. */
export interface Server {
  readonly process: ChildProcess;
  readonly url: string;
  /** For density requests. */
  readonly token: string;
}

/** Lends a server and ends it afterwards. */
export async function withServer<Result>(
  server: Server,
  use: (server: Server) => Promise<Result>,
): Promise<Result> {
  const end = () => server.process.kill();
  process.once("exit", end);
  try {
    return await use(server);
  } finally {
    process.off("exit", end);
    const ended = once(server.process, "exit");
    end();
    await ended;
  }
}

/** Runs `npm start` on a free port, with the demo data and without limits of callers. */
export async function startService(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const child = spawn(`${scripts.start} --port 0`, {
    env: {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      // A busy machine is slow, and its requests are answered all the same.
      DEADLINE_FACTOR: "10",
      RATE_LIMIT_PER_MINUTE: "1000000000",
      DAILY_QUOTA: "1000000000",
      DENSITY_PENDING_LIMIT: "100",
      ...environment,
    },
    shell: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const url = await written(child, /^Listening on (\S+)/m);
    return { process: child, url, token: await login(url) };
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** The login of the application in the demo data. */
const application = demoLogins()[0] as DemoLogin;

/** A token of the application's. */
async function login(url: string): Promise<string> {
  const { EmailAddress, password } = application;
  return await tokenOf(url, { emailaddress: EmailAddress, password });
}

/** The first group of what a process writes first that matches; all that it writes is read. */
function written(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error("a server does not listen")), readyMilliseconds);
    child.once("exit", (code) => reject(new Error(`a server ended with ${code}`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      if (text.length < 100_000) text += chunk;
      const [, found] = pattern.exec(text) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
}

/** What a process has used until now; its CPU time in whole seconds, which every `ps` knows. */
export async function usageOf({
  process: { pid },
}: Server): Promise<{ readonly cpuSeconds: number; readonly bytes: number }> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=,time=", "-p", String(pid)]);
  const [rss = "", time = ""] = stdout.trim().split(/\s+/);
  const cpuSeconds = time.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
  return { cpuSeconds, bytes: Number(rss) * 1_024 };
}

/** The beginning of an hour, that many hours after this one's. */
export const timeIn = (hours: number) =>
  new Date((Math.floor(Date.now() / hourMilliseconds) + hours) * hourMilliseconds).toISOString();
