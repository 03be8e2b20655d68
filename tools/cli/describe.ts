import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { isFileError, unwritable } from "../../shared/import/unreadable.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { useStack } from "./stack.ts";

interface DescribeOptions extends StackOptions {
  readonly out: string;
}

/** `ncs describe densities`: the method page of the data set. */
export function addDescribe(describing: Command, print: Print): void {
  const command = describing
    .command("densities")
    .description(
      "the method page of the densities: source, coverage, K, how typical hours are made, their error, judged days and limits",
    );
  withStackOptions(command)
    .requiredOption("--out <file.md>", "where to write the page")
    .action(async ({ out, ...options }: DescribeOptions) => {
      await useStack(options);
      const [{ describeDensities }, { checkConnection }, { densities }] = await Promise.all([
        import("../import/density/describe-densities.ts"),
        import("../../shared/aws/connection.ts"),
        import("../../functions/population-density/tiles/table.ts"),
      ]);
      await checkConnection(densities);
      const page = await describeDensities(new Date());
      await writeFile(out, page).catch((error: unknown) => {
        throw isFileError(error) ? new Error(`--out: ${out} ${unwritable(error.code)}`) : error;
      });
      print(`wrote ${out}`);
    });
}
