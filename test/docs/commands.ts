import { existsSync, readFileSync } from "node:fs";
import { undeployedSettings } from "../../infra/settings.ts";
import { settingsIn } from "../../infra/settings-source.ts";
import packageJson from "../../package.json" with { type: "json" };
import { runNcs } from "../support/ncs.ts";

/** The words of a command, without quotes. */
export type ShellCommand = readonly [string, ...string[]];

/** Shell keywords, and programs whose options do not depend on the project. */
const notChecked = [
  "aws",
  "cd",
  "cfn-lint",
  "curl",
  "date",
  "do",
  "done",
  "duckdb",
  "export",
  "git",
  "mkfifo",
  "sam",
  "until",
];

/** The commands of a shell block in order, including those inside `$(…)`. */
export function commandsIn(text: string): readonly ShellCommand[] {
  const commands: string[][] = [[]];
  const words = () => commands.at(-1) as string[];
  const source = text.replaceAll(/\\\n\s*/g, " ");
  // A quoted part, a substitution, a command separator, a comment, space, or a part of a word.
  const token =
    /"((?:\\.|[^"\\])*)"|'([^']*)'|\$\(((?:"[^"]*"|[^()"])*)\)|(&&|\|\||[|;&\n])|((?<=^|\s)#[^\n]*)|(\s+)|([^\s"'|;&$]+|\$)/g;
  let isInWord = false;
  for (const [, quoted, single, inner, end, comment, space, part] of source.matchAll(token)) {
    if (end !== undefined) commands.push([]);
    if (inner !== undefined) commands.splice(-1, 0, ...commandsIn(inner).map((command) => [...command]));
    const added = quoted ?? single ?? part ?? (inner === undefined ? undefined : "$");
    if (added !== undefined) {
      if (isInWord) words().push(`${words().pop() ?? ""}${added}`);
      else words().push(added);
    }
    isInWord = added !== undefined && end === undefined && comment === undefined && space === undefined;
  }
  return commands
    .map(withoutRedirections)
    .map((command) =>
      command.filter((_, index) => command.slice(0, index + 1).some((word) => !/^\w+=/.test(word))),
    )
    .filter((command): command is [string, ...string[]] => command.length > 0);
}

function withoutRedirections(command: readonly string[]): readonly string[] {
  return command.filter(
    (word, index) => !/^\d?[<>]/.test(word) && !/^\d?[<>]+$/.test(command[index - 1] ?? ""),
  );
}

/** The problems of a command: a script, subcommand, option or setting that does not exist. */
export async function commandProblems(command: ShellCommand): Promise<readonly string[]> {
  const [program, ...args] = command;
  if (program === "npm") return await npmProblems(args);
  if (program === "npx") return npxProblems(args);
  if (program === "node" || notChecked.includes(program)) return [];
  return [`nobody knows how to check ${program}`];
}

async function npmProblems(args: readonly string[]): Promise<readonly string[]> {
  const [verb = "", ...rest] = args.filter((arg) => arg !== "--silent");
  if (verb === "ci") return [];
  const name = verb === "run" ? rest.shift() : verb;
  if (name === undefined || !Object.hasOwn(packageJson.scripts, name))
    return [`package.json has no script ${name}`];
  if (rest.length === 0) return [];
  if (rest[0] !== "--") return [`npm run ${name} needs -- before ${rest[0]}`];
  if (name === "ncs") return await ncsProblems(rest.slice(1));
  return scriptProblems(packageJson.scripts[name as keyof typeof packageJson.scripts], rest.slice(1));
}

/** Problems with a program of `tools/`, which lists its options; paths must be files of the project. */
function scriptProblems(script: string, args: readonly string[]): readonly string[] {
  const [file = ""] = /tools\/\S+\.ts/.exec(script) ?? [];
  const source = readFileSync(file, "utf8");
  const isKnown = (arg: string) =>
    arg.includes("/") ? existsSync(arg) : source.includes(arg.replace(/^--/, ""));
  return args
    .filter((arg) => !/^\d+$/.test(arg) && !isKnown(arg))
    .map((arg) => `${file} does not know ${arg}`);
}

/** Problems by the command's own help. */
async function ncsProblems(args: readonly string[]): Promise<readonly string[]> {
  const firstOption = args.findIndex((arg) => arg.startsWith("-"));
  const words = firstOption < 0 ? args : args.slice(0, firstOption);
  const { code, stdout, stderr } = await runNcs([...words, "--help"]);
  const [, usage] = /^Usage: ncs ([^\n]*)/.exec(stdout) ?? [];
  if (code !== 0 || usage === undefined)
    return [`ncs ${words.join(" ")}: ${stderr.trim() || "no such command"}`];
  const known = usage.split(" ");
  const path = known.slice(
    0,
    known.findIndex((word) => /^[<[]/.test(word)),
  );
  const problems = path.every((word, index) => words[index] === word)
    ? []
    : [`ncs has no command ${words.join(" ")}`];
  const parameters = known.filter((word) => /^<|^\[(?!options\])/.test(word));
  const options = args.filter((arg) => /^--?[a-z]/.test(arg));
  const values = options.filter((option) => new RegExp(`${option}[ ,][^\\n]*?<`).test(stdout)).length;
  const given = args.length - path.length - options.length - values;
  const required = parameters.filter((word) => word.startsWith("<")).length;
  const isMore = parameters.some((word) => word.includes("..."));
  if (given < required || (given > parameters.length && !isMore)) problems.push(`usage: ncs ${usage}`);
  for (const option of options) {
    if (!new RegExp(`^ +(?:-\\w, )?${option}\\b`, "m").test(stdout))
      problems.push(`ncs ${path.join(" ")} has no ${option}`);
  }
  return problems;
}

function npxProblems([program = "", ...args]: readonly string[]): readonly string[] {
  if (!existsSync(`node_modules/.bin/${program}`)) return [`no package of the project has ${program}`];
  if (program === "cdk") return cdkSettingProblems(args);
  return [];
}

/** Problems with what `cdk` gets behind `-c`. Only `bootstrap` runs before the file of settings has the required ones. */
function cdkSettingProblems([command, ...args]: readonly string[]): readonly string[] {
  const given = args
    .filter((_, index) => args[index - 1] === "-c")
    .map((setting) => [
      setting.split("=")[0] ?? "",
      setting.slice(setting.indexOf("=") + 1).replace(/\$\(.*\)/, "shell"),
    ]);
  const required = command === "bootstrap" ? {} : { prod: undeployedSettings };
  try {
    settingsIn({ ...required, ...Object.fromEntries(given) });
    return [];
  } catch (error) {
    return [`cdk ${command} reads the settings: ${(error as Error).message}`];
  }
}
