import { logicalIdOf, withAssembly } from "../assembly.ts";
import { eventsFolder, readEvent } from "../event-files.ts";
import { startDemoService } from "../local/demo-service.ts";
import { demoData } from "../local/demo-tables.ts";
import type { LocalService } from "../local/service.ts";
import { RuntimeClient } from "../runtime-client.ts";
import { inUnit, type Row, shown, sized } from "./bench.ts";

/** What is measured by `warmFunctionRows`. */
export const aboutWarmFunctions = [
  "“Processor time” is that of a function's process on AWS's runtime interface client, which is given one event of",
  "`events/` after the other: user and system time, per request. Its tables are those of `npm start`.",
].join("\n");

const events = [
  "population-density/retrieve.200-example.json",
  "device-identifier/retrieve.200-by-phone-number.json",
];
const warmUpRequests = sized(1_500, 5);
const measuredRequests = sized(2_000, 5);

/** What warm requests cost on AWS's runtime client. */
export async function warmFunctionRows(): Promise<readonly Row[]> {
  return await withAssembly(async (assembly) => {
    const service = await startDemoService({
      assembly,
      environment: {},
      extraEnvironment: { RATE_LIMIT_PER_MINUTE: "1000000000", DAILY_QUOTA: "1000000000" },
      port: 0,
      data: demoData,
      logs: { write: () => true },
    });
    try {
      const rows: Row[] = [];
      for (const name of events) rows.push(await rowOf(service, name));
      return rows;
    } finally {
      await service.close();
    }
  });
}

async function rowOf(service: LocalService, name: string): Promise<Row> {
  const { functionId, event } = await readEvent(`${eventsFolder}/${name}`);
  const client = new RuntimeClient();
  await client.start(service.environmentOf(logicalIdOf(functionId, service.template)));
  try {
    await invoke(client, event, warmUpRequests);
    const before = await client.cpuMilliseconds();
    await invoke(client, event, measuredRequests);
    const milliseconds = ((await client.cpuMilliseconds()) - before) / measuredRequests;
    return shown(`${functionId}: processor time of a warm request`, inUnit("ms", 2)(milliseconds));
  } finally {
    await client.close();
  }
}

async function invoke(client: RuntimeClient, event: unknown, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const { result, streamed } = await client.invoke(event);
    const answer = result === undefined ? streamed.toString() : JSON.stringify(result);
    if (!answer.includes('"statusCode":200'))
      throw new Error(`a request was answered ${answer.slice(0, 300)}`);
  }
}
