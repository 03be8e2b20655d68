import type { Command } from "commander";
import { dateOf, type StackOptions, withStackOptions } from "./options.ts";
import { changedItems, type Print } from "./print.ts";
import { connectStack } from "./stack.ts";

interface ExcludeOptions extends StackOptions {
  readonly undo?: boolean;
}

/** `ncs exclude day`: takes an observed day out of typical weekdays. */
export function addExclude(excluding: Command, print: Print): void {
  const command = excluding
    .command("day")
    .description(
      "make the typical hours of a day's weekday again from the other days; the day itself stays as it is",
    )
    .argument("<date>", "YYYY-MM-DD, UTC", dateOf);
  withStackOptions(command)
    .option("--undo", "take the day back into typical weekdays")
    .action(async (date: string, { undo = false, ...options }: ExcludeOptions) => {
      const stack = await connectStack(options, "density-imports");
      const [{ excludeDay }, { tellWait }, { withPatientCalls }] = await Promise.all([
        import("../../functions/population-density/import/publish/exclude-day.ts"),
        import("../import/table-lease.ts"),
        import("../../shared/aws/patient-calls.ts"),
      ]);
      const onWait = (_: string, until: number) => tellWait("densities", until);
      const counts = await withPatientCalls(() => excludeDay(date, !undo, new Date(), onWait));
      const done = undo ? "is taken back into" : "stays out of";
      print(`${date} ${done} typical weekdays: ${changedItems(counts)} in ${stack}`);
    });
}
