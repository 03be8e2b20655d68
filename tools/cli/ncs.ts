import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { connectionProblem } from "../../shared/aws/connection-problem.ts";
import { isFileError, unwritable } from "../../shared/import/unreadable.ts";
import { visibleText } from "../visible-text.ts";
import type { Print } from "./print.ts";

/** Where a command writes. */
export interface CommandOutput {
  readonly stdout: (text: string) => void;
  /** Is for people: characters that a terminal would obey are written out. */
  readonly stderr: (text: string) => void;
  /** Whether `stdout` is a terminal too, and not a file that gets everything as it is. */
  readonly isTerminal?: boolean | undefined;
}

/** Adds options, subcommands and actions to a command. */
type Definition = (command: Command, print: Print, note: Print) => void;

interface ListedCommand {
  /** Its name, and its arguments if it has no subcommands. */
  readonly usage: string;
  readonly description: string;
  /** Loaded only when the command is run or asked for help: the AWS SDK alone takes longer than all help. */
  readonly load: () => Promise<Definition>;
}

const commands: readonly ListedCommand[] = [
  {
    usage: "token",
    description: "log in and print an access token",
    load: async () => (await import("./call.ts")).addToken,
  },
  {
    usage: "call",
    description: "call an operation of the API and print the answer",
    load: async () => (await import("./call.ts")).addCall,
  },
  {
    usage: "density [request]",
    description: "write the densities of an area to a file: CSV, GeoJSON or GeoParquet",
    load: async () => (await import("./density.ts")).addDensity,
  },
  {
    usage: "webhooks",
    description: "manage the secrets that sign deliveries, and show deliveries on this machine, verified",
    load: async () => (await import("./webhooks.ts")).addWebhooks,
  },
  {
    usage: "verify [url]",
    description: "check that a service answers as the contract says: text, JSON, JUnit or HTML",
    load: async () => (await import("./verify.ts")).addVerify,
  },
  {
    usage: "import",
    description: "import files into the service's tables",
    load: async () => (await import("./import.ts")).addImport,
  },
  {
    usage: "list",
    description: "list what was imported",
    load: async () => (await import("./record-commands.ts")).addList,
  },
  {
    usage: "exclude",
    description: "keep an observed day of densities out of typical weekdays",
    load: async () => (await import("./exclude.ts")).addExclude,
  },
  {
    usage: "describe",
    description: "write what users of the densities ask for, as a page",
    load: async () => (await import("./describe.ts")).addDescribe,
  },
  {
    usage: "export",
    description: "write what was imported to standard output, a record in each line",
    load: async () => (await import("./record-commands.ts")).addExport,
  },
  {
    usage: "delete",
    description: "delete records of leavers, for good",
    load: async () => (await import("./record-commands.ts")).addDelete,
  },
  {
    usage: "subject",
    description: "export or erase everything that is stored about a person",
    load: async () => (await import("./subject.ts")).addSubject,
  },
  {
    usage: "generate",
    description: "make up files to import",
    load: async () => (await import("./generate.ts")).addGenerate,
  },
  {
    usage: "jobs",
    description: "inspect, retry and release deliveries of densities",
    load: async () => (await import("./jobs.ts")).addJobs,
  },
  {
    usage: "rotate-keys",
    description: "rotate the key that signs access tokens; tokens that are already signed stay valid",
    load: async () => (await import("./rotate-keys.ts")).addRotateKeys,
  },
  {
    usage: "explain-trace",
    description:
      "read a log line or its `cause` from standard input, and print it with places in the sources",
    load: async () => (await import("./explain-trace.ts")).addExplainTrace,
  },
  {
    usage: "preflight",
    description:
      "compare an account's quotas with what a stage can use of them, and a release with what is deployed",
    load: async () => (await import("./preflight.ts")).addPreflight,
  },
  {
    usage: "cost",
    description: "say what a stage costs a month with the requests that are expected, by part",
    load: async () => (await import("./cost.ts")).addCost,
  },
  {
    usage: "event <file>",
    description: "print an event with its times moved to now, as `sam local invoke -e -` reads it",
    load: async () => (await import("./event.ts")).addEvent,
  },
  {
    usage: "sam-env",
    description:
      "print the file that `sam local invoke --env-vars` takes: functions on the tables of a stage",
    load: async () => (await import("./sam-env.ts")).addSamEnv,
  },
];

/**
 * Runs `ncs`. Commands on a stack write the names in its outputs to `process.env`, where the functions' code reads
 * them.
 * @param args the arguments after `ncs`.
 * @returns the exit code: 1 for wrong arguments or a failed command, with the reason on standard error.
 */
export async function ncs(args: readonly string[], output: CommandOutput): Promise<number> {
  const stderr = (text: string) => output.stderr(visibleText(text));
  const stdout = (text: string) => output.stdout(output.isTerminal === true ? visibleText(text) : text);
  const program = new Command("ncs")
    .description("Operates a Network Capabilities Service: a deployed stage, or `npm start`.")
    .version(version())
    .exitOverride()
    .showHelpAfterError("(add --help for the options)")
    .configureHelp({
      optionDescription: ({ description, mandatory, argChoices, defaultValue }) => {
        const notes = [
          ...(mandatory ? ["required"] : []),
          ...(argChoices === undefined ? [] : [`one of ${argChoices.join(", ")}`]),
          ...(defaultValue === undefined ? [] : [`default: ${defaultValue}`]),
        ];
        return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
      },
    })
    .configureOutput({ writeOut: stdout, writeErr: stderr });
  const print: Print = (line) => stdout(`${line}\n`);
  const note: Print = (line) => stderr(`${line}\n`);
  try {
    for (const { usage, description, load } of commands) {
      const command = program.command(usage).description(description);
      if (args.includes(command.name())) (await load())(command, print, note);
    }
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already written the error or the requested help.
    if (error instanceof CommanderError) return error.exitCode;
    stderr(`${sentenceOf(error)}\n`);
    return 1;
  }
}

/** What a command that failed says. Most errors say it themselves; those of the AWS SDK are for programmers. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isFileError(error) && error.message.endsWith(", write"))
    return `standard output ${unwritable(error.code)}`;
  const problem = connectionProblem(error);
  if (problem !== undefined) return problem.message;
  const isOfAws = "$metadata" in error || "$response" in error;
  if (!isOfAws || "$fault" in error) return error.message;
  const code = "code" in error ? error.code : error.name;
  return `AWS does not answer as expected (${code}): check AWS_REGION, AWS_ENDPOINT_URL and the network`;
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String(version);
}
