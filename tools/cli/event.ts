import type { Command } from "commander";
import { readEvent } from "../event-files.ts";
import { faultNames, faultyEvent, readFault } from "../faults.ts";
import type { Print } from "./print.ts";

/** `ncs event FILE`: an event with its times moved to now, as `sam local invoke -e -` reads it. */
export function addEvent(command: Command, print: Print): void {
  command
    .option("--fault <name>", `what is wrong with the request: ${faultNames.join(", ")}`)
    .action(async (path: string, { fault }: { readonly fault?: string }) => {
      const { event } = await readEvent(path);
      print(JSON.stringify(fault === undefined ? event : faultyEvent(event, readFault(fault)), null, 2));
    });
}
