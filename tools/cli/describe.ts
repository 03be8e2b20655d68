import type { Command } from "commander";
import { writeOut } from "../write-out.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { connectStack } from "./stack.ts";

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
      await connectStack(options, "densities");
      const { describeDensities } = await import("../import/density/describe-densities.ts");
      await writeOut(out, await describeDensities(new Date()));
      print(`wrote ${out}`);
    });
}
