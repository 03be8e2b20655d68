import { Command } from "commander";
import { readEvent } from "./event-files.ts";
import { exitOnSignals } from "./exit-on-signals.ts";
import { faultNames, readFault } from "./faults.ts";
import { demoData } from "./import/data-files.ts";
import { fromInvocationFolder } from "./invocation-folder.ts";
import { invokeEvent } from "./invoke-event.ts";
import { startDemoService } from "./local/demo-service.ts";
import { Pages } from "./local/pages.ts";
import { forgetAwsAccount } from "./local/servers/aws-variables.ts";
import { storeSampleOperationsIn } from "./sample-operations.ts";

exitOnSignals();
forgetAwsAccount(process.env);

await new Command("npm run invoke --")
  .description(
    "Sends an event of API Gateway through the handler of its function, on tables with the demo data and the " +
      "operations that events are about, and prints what the function answers. The times in the event's body are " +
      "moved to now, and assertions of the demo's clients are signed again.",
  )
  .argument(
    "<file>",
    "an event of events/, or one of your own; its resource and httpMethod choose the function",
  )
  .option("--fault <name>", `what goes wrong: ${faultNames.join(", ")}`)
  .showHelpAfterError("(add --help for the options)")
  .action(async (path: string, { fault: name }: { readonly fault?: string }) => {
    try {
      await invoke(path, name);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      process.exit(1);
    }
  })
  .parseAsync();
process.exit(0);

async function invoke(path: string, faultName: string | undefined): Promise<void> {
  const read = await readEvent(fromInvocationFolder(path));
  const fault = faultName === undefined ? undefined : readFault(faultName);
  const pages = new Pages((text) => console.error(text));
  const service = await startDemoService({ environment: process.env, port: 0, data: demoData, pages });
  try {
    await storeSampleOperationsIn(service);
    console.log(JSON.stringify(await invokeEvent(service, read, fault), null, 2));
  } finally {
    await service.close();
    pages.remove();
  }
}
