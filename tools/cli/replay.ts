import type { Command } from "commander";
import type { EntryOptions } from "../../functions/population-density/import/store/journal-store.ts";
import { plural } from "../../shared/plural.ts";
import { type StackOptions, wholeNumber, withStackOptions } from "./options.ts";
import { changedItems, type Print } from "./print.ts";
import { connectStack } from "./stack.ts";

/** `ncs import replay`: makes imports of densities again, as the journal has them. */
export function addReplay(importing: Command, print: Print): void {
  const command = importing
    .command("replay <folder>")
    .description(
      "make the imports of densities again that the journal has, in their order, from the same files: after the " +
        "table of densities was lost",
    );
  withStackOptions(command)
    .option("--first <number>", "begin with this import of the journal", wholeNumber(1, 999_999_999), 1)
    .option("--dry-run", "find and compare the files, and write nothing")
    .action(async (folder: string, options: ReplayOptions) => {
      const stack = await connectStack(options, "density-imports");
      const { imports, unfinished, ...counts } = await run(folder, options, print);
      if (unfinished.length > 0) {
        print(`left out, as they had not ended: ${unfinished.join(", ")}`);
      }
      print(
        options.dryRun === true
          ? `${imports} ${plural(imports, "import")} could be made again in ${stack}; nothing was written`
          : `${imports} ${plural(imports, "import")} made again, ${changedItems(counts)} in ${stack}`,
      );
    });
}

interface ReplayOptions extends StackOptions {
  readonly first: number;
  readonly dryRun?: boolean;
}

async function run(folder: string, { first, dryRun: isDryRun }: ReplayOptions, print: Print) {
  const [{ replayImports }, { withPatientCalls }] = await Promise.all([
    import("../import/density/replay.ts"),
    import("../../shared/aws/patient-calls.ts"),
  ]);
  return await withPatientCalls(() =>
    replayImports({
      folder,
      first,
      isDryRun,
      onImport: ({ number, beganAt, options }) => print(`${number}: ${beganAt} ${told(options)}`),
    }),
  );
}

function told(options: EntryOptions): string {
  if (options.command === "population") return `population, ${options.format}`;
  return options.typical ? "density, typical weekdays" : "density";
}
