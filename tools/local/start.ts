// Heard from the first moment on: a start takes seconds, and whoever stops it does not wait.
let isListening = false;
const stop = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      if (isListening) resolve();
      else process.exit(0);
    });
  }
});

const { parseArgs } = await import("node:util");
const { withAssembly } = await import("../assembly.ts");
const { demoData, refuseMalformedConfiguration, startDemoService } = await import("./demo-service.ts");

function readArguments() {
  try {
    const { values } = parseArgs({ options: { port: { type: "string" }, data: { type: "string" } } });
    const port = values.port ?? process.env.PORT ?? "3000";
    return /^\d{1,5}$/.test(port) && Number(port) <= 65_535
      ? { port: Number(port), data: values.data ?? demoData }
      : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

const wanted = readArguments();
if (wanted === undefined) {
  console.error("usage: npm start -- [--port 0…65535] [--data FOLDER]");
  process.exit(2);
}

try {
  const environment = { ...process.env };
  refuseMalformedConfiguration(environment);
  await withAssembly(async (assembly) => {
    const service = await startDemoService({ ...wanted, assembly, environment });
    isListening = true;
    console.log(`Listening on ${service.url}`);
    await stop;
    await service.close();
  });
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
