import { parseArgs } from "node:util";
import { withAssembly } from "./assembly.ts";
import { readEventFile } from "./event-files.ts";
import { exitOnSignals } from "./exit-on-signals.ts";
import { faultNames, faultyEvent, readFault } from "./faults.ts";
import { fromInvocationFolder } from "./invocation-folder.ts";
import { startDemoService } from "./local/demo-service.ts";
import { demoData } from "./local/demo-tables.ts";
import { replay } from "./replay.ts";

exitOnSignals();

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    fault: { type: "string" },
    /** Prints the event, as `sam local invoke -e` takes it, and invokes nothing. */
    print: { type: "boolean", default: false },
  },
});
const [path] = positionals;
if (path === undefined) {
  console.error(
    "usage: npm run invoke -- events/<area>/<operation>.<status>-<case>.json [--fault <name>] [--print]",
  );
  console.error(`faults: ${faultNames.join(", ")}`);
  process.exit(2);
}

const file = await readEventFile(fromInvocationFolder(path));
const fault = options.fault === undefined ? undefined : readFault(options.fault);
if (options.print) {
  console.log(JSON.stringify(fault === undefined ? file.event : faultyEvent(file.event, fault), null, 2));
} else {
  await withAssembly(async (assembly) => {
    const service = await startDemoService({ assembly, environment: process.env, port: 0, data: demoData });
    try {
      console.log(JSON.stringify(await replay(service, file, fault), null, 2));
    } finally {
      await service.close();
    }
  });
}
process.exit(0);
