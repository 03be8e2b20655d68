import type { MadeAssembly } from "../assembly.ts";
import { exitOnSignals } from "../exit-on-signals.ts";

// Registered first: a start takes seconds and must be interruptible.
let isListening = false;
const stop = new Promise<void>((resolve) => {
  exitOnSignals(() => {
    if (isListening) resolve();
    else process.exit(0);
  });
});

const { parseArgs } = await import("node:util");
const { makeAssembly } = await import("../assembly.ts");
const { requireDataFolder } = await import("../import/data-files.ts");
const { fromInvocationFolder } = await import("../invocation-folder.ts");
const { refuseMalformedConfiguration } = await import("./configuration.ts");
const { requireFreePort } = await import("./servers/listening-server.ts");

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { port: { type: "string" }, data: { type: "string" }, throttle: { type: "boolean" } },
    });
    const { port = process.env.PORT ?? "3000", data, throttle = false } = values;
    return /^\d{1,5}$/.test(port) && Number(port) <= 65_535
      ? {
          port: Number(port),
          data: data === undefined ? undefined : fromInvocationFolder(data),
          throttled: throttle,
        }
      : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * Starts the service and says so. What it needs is loaded, and the demo data are imported, while the assembly is made.
 */
async function serve(
  making: Promise<MadeAssembly>,
  { port, data: folder, throttled }: NonNullable<ReturnType<typeof readArguments>>,
  environment: NodeJS.ProcessEnv,
) {
  const [{ startDemoService }, { demoData }, { nextSteps }, { isReadable, readableLines }, { announce }] =
    await Promise.all([
      import("./demo-service.ts"),
      import("./demo-tables.ts"),
      import("./next-steps.ts"),
      import("./readable-lines.ts"),
      import("./running-service.ts"),
    ]);
  const data = folder ?? demoData;
  const logs = isReadable(process.stderr, environment) ? readableLines(process.stderr) : process.stderr;
  const assembly = making.then((made) => made.assembly);
  const service = await startDemoService({ port, data, throttled, assembly, environment, logs });
  isListening = true;
  announce(service, Boolean(environment.AWS_ENDPOINT_URL_DYNAMODB || environment.AWS_ENDPOINT_URL_SQS));
  console.log(`Listening on ${service.url}`);
  if (process.stdout.isTTY) {
    const paths = service.template.api.routes.map(({ path }) => path);
    console.log(nextSteps(service.url, paths, data === demoData));
  }
  return service;
}

const wanted = readArguments();
if (wanted === undefined) {
  console.error("usage: npm start -- [--port 0…65535] [--data FOLDER] [--throttle]");
  process.exit(2);
}

try {
  const environment = { ...process.env };
  // This program is no function, whatever the shell is.
  delete process.env.AWS_LAMBDA_RUNTIME_API;
  refuseMalformedConfiguration(environment);
  // Before anything is built, which takes seconds.
  if (wanted.data !== undefined) requireDataFolder(wanted.data);
  await requireFreePort(wanted.port);
  const making = makeAssembly();
  const [made, service] = await Promise.all([making, serve(making, wanted, environment)]);
  await stop;
  await service.close();
  made.remove();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
