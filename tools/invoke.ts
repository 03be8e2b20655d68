import { logicalIdOf, withAssembly } from "./assembly.ts";
import { readEventFile } from "./event-files.ts";
import { exitOnSignals } from "./exit-on-signals.ts";
import { fromInvocationFolder } from "./invocation-folder.ts";
import { apiResult } from "./local/api-result.ts";
import { startDemoService } from "./local/demo-service.ts";
import { demoData } from "./local/demo-tables.ts";

exitOnSignals();

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: npm run invoke -- events/<area>/<operation>.<status>-<case>.json");
  process.exit(2);
}

const { functionId, event, environment } = await readEventFile(fromInvocationFolder(path));
await withAssembly(async (assembly) => {
  const service = await startDemoService({ assembly, environment: process.env, port: 0, data: demoData });
  try {
    const options = environment === undefined ? {} : { environment };
    const answer = await apiResult(service, logicalIdOf(functionId, service.template), event, options);
    console.log(JSON.stringify(answer, null, 2));
  } finally {
    await service.close();
  }
});
process.exit(0);
