import { exitOnSignals } from "../exit-on-signals.ts";
import type { Around } from "./around.ts";
import type { Log } from "./follow-sources.ts";
import type { KeptState } from "./kept-state.ts";

// Registered before the other modules are loaded: a start takes seconds and must be interruptible.
let isListening = false;
const stop = new Promise<void>((resolve) => {
  exitOnSignals(() => {
    if (isListening) resolve();
    else process.exit(0);
  });
});

const { Command, InvalidArgumentError, Option } = await import("commander");
const { wholeNumber } = await import("../cli/options.ts");
const { demoData, hasDemoLogins, requireDataFolder } = await import("../import/data-files.ts");
const { fromInvocationFolder } = await import("../invocation-folder.ts");
const { visibleText } = await import("../visible-text.ts");
const { forgetAwsAccount } = await import("./servers/aws-variables.ts");
const { refuseMalformedConfiguration } = await import("./declared/configuration.ts");
const { setting } = await import("../../shared/environment.ts");
const { DEADLINE_FACTOR } = await import("../../shared/variables/deadline-factor.ts");
const { chosenPort, requireFreePort } = await import("./servers/listening-server.ts");

/** What was asked for. */
interface Wanted {
  readonly port: number;
  readonly around?: string;
  readonly data?: string;
  readonly keep?: string;
  readonly allowHost?: readonly string[];
  readonly publicUrl?: URL;
  readonly watch?: true;
}

/** Ends the program with 2 for wrong options, which it names, and with 0 after `--help`. */
function readOptions(): Wanted {
  return new Command("npm start --")
    .addOption(
      new Option("--port <port>", "listen on this port of 127.0.0.1; 0 chooses a free one")
        .env("PORT")
        .argParser(wholeNumber(0, 65_535))
        .default(3000),
    )
    .option(
      "--around <place>",
      "cover another place than the demo's city, by a model, nobody was counted: a name, a box " +
        "(west,south,east,north), or a .geojson file with polygons",
    )
    .option("--data <folder>", "import this folder instead of the demo data", fromInvocationFolder)
    .option(
      "--keep <folder>",
      "keep tables, messages and keys there, and continue with them at the next start",
      fromInvocationFolder,
    )
    .option(
      "--allow-host <name>",
      "answer requests whose Host is this name too, such as host.docker.internal; may be repeated",
      (name, others: readonly string[] = []) => [...others, hostName(name)],
    )
    .option(
      "--public-url <url>",
      "the https address that a forwarder such as ngrok gives this service: answers and tokens name it",
      originIn,
    )
    .option("--watch", "take up what is saved in functions/, shared/, infra/ and console/")
    .configureOutput({ writeErr: complain })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse()
    .opts<Wanted>();
}

function hostName(text: string): string {
  if (/^[\w.-]+$/.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("It must be the name of a host, without a port.");
}

function originIn(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.href === `${url.origin}/`) return url;
  throw new InvalidArgumentError(
    "It must be an https address without a path, such as https://name.ngrok.app.",
  );
}

/** Characters that a terminal would obey are written out: paths may have any. */
function complain(text: string): void {
  console.error(visibleText(text.trimEnd()));
}

/** A machine that does other things, too, answers slowly, but it answers: time limits count while a thread waits. */
const localDeadlines = { DEADLINE_FACTOR: "4" };

/** A run has 74 open files and connections at rest, and more with requests. */
const openFilesNeeded = 256;

/** @throws {Error} saying what to do if the shell lets a program open fewer files: connections would fail later. */
function requireOpenFiles(): void {
  // Without the addresses of the machine, which take long.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files: { readonly soft: number | "unlimited" } };
  };
  const allowed = userLimits?.open_files.soft;
  if (typeof allowed !== "number" || allowed >= openFilesNeeded) return;
  throw new Error(
    `npm start needs ${openFilesNeeded} open files and connections, and this shell allows ${allowed}: ` +
      "raise it with ulimit -n 1024",
  );
}

/** Starts the service and announces it. */
async function serve(
  { port: wanted, data: folder, allowHost = [], publicUrl, watch }: Wanted,
  wantedAround: Around | undefined,
  kept: KeptState | undefined,
  shell: NodeJS.ProcessEnv,
) {
  const [
    { ownIssuer, startDemoService },
    { nextSteps },
    { isReadable, readableLines },
    { announce },
    { Pages },
  ] = await Promise.all([
    import("./demo-service.ts"),
    import("./next-steps.ts"),
    import("./readable-lines.ts"),
    import("./running-service.ts"),
    import("./pages.ts"),
  ]);
  const port = await chosenPort(wanted);
  const environment: NodeJS.ProcessEnv = { ...ownIssuer(port, publicUrl), ...shell };
  const data = folder ?? kept?.firstStart?.data ?? demoData;
  const logs = isReadable(process.stderr, environment)
    ? readableLines(process.stderr, () => isListening)
    : process.stderr;
  const log: Log = (level, message) =>
    logs.write(`${JSON.stringify({ level, message, timestamp: new Date().toISOString() })}\n`);
  for (const note of wantedAround?.notes ?? []) log("WARN", note);
  const around = wantedAround ?? kept?.firstStart?.around;
  const pages = new Pages((text) => log("INFO", text));
  const service = await startDemoService({
    port,
    data,
    around,
    pages,
    kept,
    allowedHosts: publicUrl === undefined ? allowHost : [...allowHost, publicUrl.hostname],
    publicUrl,
    environment,
    deadlineFactor: setting(DEADLINE_FACTOR, { ...localDeadlines, ...shell }),
    logs,
    onBroken: (error) => {
      complain(whyBroken(kept, error));
      process.exit(1);
    },
  });
  isListening = true;
  if (watch) (await import("./follow-sources.ts")).followSources(service, pages, log);
  announce(service, Boolean(environment.AWS_ENDPOINT_URL_DYNAMODB || environment.AWS_ENDPOINT_URL_SQS));
  if (kept !== undefined) log("INFO", whatIsKept(kept, around?.name ?? data));
  console.log(`Listening on ${service.url}`);
  if (process.stdout.isTTY) {
    const paths = service.declarations.api.methods.map(({ path }) => path);
    const steps = nextSteps(service.url, paths, { hasDemoLogins: hasDemoLogins(data), around: around?.name });
    console.log(visibleText(steps));
  }
  return service;
}

/** What LevelDB says of a disk that takes no more. */
const isOfDisk = /no space left|disk quota|ENOSPC|EDQUOT/i;

/** What ends the service: it would answer 503 to everything that is to be stored. */
function whyBroken(kept: KeptState | undefined, { message }: Error): string {
  if (kept === undefined) return `An embedded server has ended: ${message}`;
  const advice = isOfDisk.test(message) ? "Make room there and start again" : "Start again";
  return `--keep: what is in ${kept.folder} can no longer be used (${message}). ${advice}: what was acknowledged is kept`;
}

function whatIsKept({ folder, firstStart }: KeptState, data: string): string {
  return firstStart === undefined
    ? `Keeping state in ${folder}, beginning with the data of ${data}`
    : `Using the state in ${folder}, kept since ${firstStart.since}; it began with the data of ${data}`;
}

/** @throws {Error} saying what to do if state cannot be kept there. */
async function openKeptState(
  folder: string,
  wanted: string | undefined,
  { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_SQS }: NodeJS.ProcessEnv,
): Promise<KeptState> {
  if (AWS_ENDPOINT_URL_DYNAMODB || AWS_ENDPOINT_URL_SQS) {
    throw new Error(
      "--keep works with the embedded servers only: unset AWS_ENDPOINT_URL_DYNAMODB and AWS_ENDPOINT_URL_SQS",
    );
  }
  const { KeptState } = await import("./kept-state.ts");
  return await KeptState.open(folder, wanted);
}

const wanted = readOptions();
try {
  forgetAwsAccount(process.env);
  const environment = { ...process.env };
  // This program is not a Lambda function, even if the shell runs in one.
  delete process.env.AWS_LAMBDA_RUNTIME_API;
  refuseMalformedConfiguration(environment);
  const { keep, data } = wanted;
  // Checked first, as a start takes seconds.
  requireOpenFiles();
  if (data !== undefined) requireDataFolder(data);
  if (data !== undefined && wanted.around !== undefined) {
    throw new Error("--around covers the demo's data, and --data imports others: leave out one of them");
  }
  await requireFreePort(wanted.port);
  const around =
    wanted.around === undefined ? undefined : await (await import("./around.ts")).aroundOf(wanted.around);
  const kept = keep === undefined ? undefined : await openKeptState(keep, around?.name ?? data, environment);
  const service = await serve(wanted, around, kept, environment);
  await stop;
  await service.close();
  await kept?.close();
  process.exit(0);
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
