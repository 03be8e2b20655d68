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

const { parseArgs } = await import("node:util");
const { demoData, hasDemoLogins, requireDataFolder } = await import("../import/data-files.ts");
const { fromInvocationFolder } = await import("../invocation-folder.ts");
const { forgetAwsAccount } = await import("./servers/aws-variables.ts");
const { refuseMalformedConfiguration } = await import("./declared/configuration.ts");
const { setting } = await import("../../shared/environment.ts");
const { DEADLINE_FACTOR } = await import("../../shared/variables/deadline-factor.ts");
const { chosenPort, requireFreePort } = await import("./servers/listening-server.ts");

function readArguments() {
  try {
    const { values } = parseArgs({
      args: withNegativeBox(process.argv.slice(2)),
      options: {
        port: { type: "string" },
        data: { type: "string" },
        keep: { type: "string" },
        around: { type: "string" },
        "allow-host": { type: "string", multiple: true },
        watch: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    const { port = process.env.PORT ?? "3000", data, keep, around, help = false, watch = false } = values;
    const { "allow-host": allowedHosts = [] } = values;
    const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 65_535;
    return isPort && allowedHosts.every((name) => /^[\w.-]+$/.test(name))
      ? {
          port: Number(port),
          data: data === undefined ? undefined : fromInvocationFolder(data),
          keep: keep === undefined ? undefined : fromInvocationFolder(keep),
          around,
          allowedHosts: allowedHosts.map((name) => name.toLowerCase()),
          help,
          watch,
        }
      : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A machine that does other things, too, answers slowly, but it answers: time limits count while a thread waits. */
const localDeadlines = { DEADLINE_FACTOR: "4" };

/** A box in the west begins with a hyphen, as an option does: `--around -0.2,51.4,0,51.6`. */
function withNegativeBox(args: readonly string[]): string[] {
  const at = args.findIndex((arg, index) => arg === "--around" && /^-[\d.]/.test(args[index + 1] ?? ""));
  return at < 0 ? [...args] : args.toSpliced(at, 2, args.slice(at, at + 2).join("="));
}

/** Starts the service and announces it. */
async function serve(
  { port: wanted, data: folder, allowedHosts, watch }: NonNullable<ReturnType<typeof readArguments>>,
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
  const environment: NodeJS.ProcessEnv = { ...ownIssuer(port), ...shell };
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
    allowedHosts,
    environment,
    deadlineFactor: setting(DEADLINE_FACTOR, { ...localDeadlines, ...shell }),
    logs,
    onBroken: (error) => {
      console.error(whyBroken(kept, error));
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
    console.log(nextSteps(service.url, paths, { hasDemoLogins: hasDemoLogins(data), around: around?.name }));
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

const usage = `usage: npm start -- [--port 0…65535] [--around PLACE | --data FOLDER]
                       [--keep FOLDER] [--allow-host NAME]... [--watch]

  --port PORT    listen on this port of 127.0.0.1 (default: PORT, or 3000); 0 chooses a free one
  --around PLACE cover another place than the demo's city, by a model, nobody was counted: a name, a box
                 (west,south,east,north), or a .geojson file with polygons
  --data FOLDER  import this folder instead of the demo data
  --keep FOLDER  keep tables, messages and keys there, and continue with them at the next start
  --allow-host NAME
                 answer requests whose Host is this name too, such as host.docker.internal; may be repeated
  --watch        take up what is saved in functions/, shared/, infra/ and console/ while the service runs`;

const wanted = readArguments();
if (wanted === undefined) {
  console.error(usage);
  process.exit(2);
}
if (wanted.help) {
  console.log(usage);
  process.exit(0);
}

try {
  forgetAwsAccount(process.env);
  const environment = { ...process.env };
  // This program is not a Lambda function, even if the shell runs in one.
  delete process.env.AWS_LAMBDA_RUNTIME_API;
  refuseMalformedConfiguration(environment);
  const { keep, data } = wanted;
  // Checked first, as a start takes seconds.
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
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
