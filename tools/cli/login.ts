import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type Command, Option } from "commander";
import { type Login, tokenOf } from "../calls/login.ts";
import { addressOf, isLoopback, type StackOptions, withStage } from "./options.ts";

/** Where a command calls the API. */
export interface LoginOptions {
  /** Without a trailing slash. */
  readonly url: string;
}

/** Adds where the API is. The command then has its address as `url`, in whichever way it was told. */
export function withUrl(command: Command): Command {
  const url = new Option("--url <url>", "the API: that of `npm start`, or of a stage; NCS_URL is read too")
    .env("NCS_URL")
    .argParser(addressOf)
    .default("http://127.0.0.1:3000");
  return withStage(command)
    .addOption(url)
    .hook("preAction", async (_, called) => {
      const { outputs, local, url } = called.opts<StackOptions>();
      if (outputs === undefined && local === undefined) return;
      const { addressOfService } = await import("./stack.ts");
      const isNamed = called.getOptionValueSource("url") === "cli";
      const named = { outputs, local, ...(isNamed ? { url } : {}) } as StackOptions;
      called.setOptionValue("url", await addressOfService(named));
    });
}

/** Who calls the API. */
export interface CallerOptions extends LoginOptions {
  readonly as?: string;
  readonly token?: string;
}

/** Adds the address of the API, and who calls it. */
export function withCaller(command: Command): Command {
  return withUrl(command)
    .option("--as <email>", "log in first; the password is asked for, or read from NCS_PASSWORD")
    .option("--token <token>", "an access token instead; NCS_TOKEN is read too");
}

/** The token of a caller, after a login if there is one; undefined if nothing says who calls. */
export async function tokenFor({ url, as, token }: CallerOptions): Promise<string | undefined> {
  if (as === undefined) return token ?? process.env.NCS_TOKEN;
  return await tokenOf(url, await loginOf(url, as));
}

/**
 * The password of a login: `NCS_PASSWORD`, that of the demo data for a service on this machine, or what a person types.
 * @throws {Error} that says what to set, where nobody can be asked.
 */
export async function loginOf(url: string, emailaddress: string): Promise<Login> {
  const fromShell = process.env.NCS_PASSWORD;
  if (fromShell !== undefined && fromShell !== "") return { emailaddress, password: fromShell };
  if (isLoopback(new URL(url).hostname)) {
    const { demoLogins } = await import("../demo-logins.ts");
    const known = demoLogins().find(({ EmailAddress }) => EmailAddress === emailaddress);
    if (known !== undefined) return { emailaddress, password: known.password };
  }
  if (!process.stdin.isTTY) throw new Error(`no password of ${emailaddress}: set NCS_PASSWORD`);
  return { emailaddress, password: await typed(`Password of ${emailaddress}: `) };
}

/** Asks without showing what is typed. */
async function typed(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_, __, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
