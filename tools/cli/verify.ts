import { type Command, Option } from "commander";
import type { Findings } from "../verify/findings.ts";
import type { ReportFormat } from "../verify/report.ts";
import { checkOut, writeOut } from "../write-out.ts";
import { addressForm, addressIn, type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { type Progress, withProgress } from "./progress.ts";

interface VerifyOptions extends StackOptions {
  readonly logins?: string;
  readonly features?: string;
  readonly plan?: string;
  readonly definitions?: string;
  readonly only?: string;
  readonly complete?: true;
  readonly sink?: string;
  readonly report: ReportFormat;
  readonly out?: string;
}

/** `ncs verify`: the scenarios of the contract, or those of feature files, against any service. */
export function addVerify(command: Command, print: Print, note: Print): void {
  withStackOptions(command)
    .option(
      "--logins <file>",
      "who sends the requests, in the form of tools/demo/profiles.json; the demo's own if absent",
    )
    .option("--features <dir>", "run the .feature files of this folder instead; the service may be anybody's")
    .option(
      "--plan <file>",
      "with --features: the test data, in the form of tools/verify/demo-plan/plan.json",
    )
    .option(
      "--definitions <dir>",
      "with --features: where the API definitions are; in the folder of the features if absent",
    )
    .option("--only <text>", "only scenarios whose names contain this, such as qos-profiles/")
    .option("--sink <url>", "have densities delivered to this sink too, and wait until they were")
    .option("--complete", "exit with 1 also when a scenario could not be run")
    .addOption(
      new Option("--report <format>", "what is written; html is one page to hand on")
        .choices(["text", "json", "junit", "html"])
        .default("text"),
    )
    .option("--out <file>", "where the report is written, instead of standard output")
    .addHelpText(
      "after",
      "\nThe service needs the demo data: what tools/demo has, imported with `ncs import`. " +
        "Deliveries that are begun are\ncancelled, and webhook secrets deleted. With --features, the plan says what the " +
        "service needs.\nThe exit code is 1 if any scenario fails, or if none could be run.",
    )
    .action(async (url: string | undefined, options: VerifyOptions, command: Command) => {
      const address = url === undefined ? undefined : addressIn(url);
      if (url !== undefined && address === undefined) command.error(`error: ${url} ${addressForm}`);
      const { addressOfService } = await import("./stack.ts");
      const base = await addressOfService(address === undefined ? options : { ...options, url: address });
      const { features, plan, definitions, logins, complete, report: format, out } = options;
      const isAlone = (features === undefined) === (plan === undefined);
      if (!isAlone) command.error("error: --features and --plan need each other");
      if (features === undefined && definitions !== undefined) {
        command.error("error: --definitions needs --features");
      }
      if (features !== undefined && logins !== undefined) {
        command.error("error: with --features, the plan says who sends the requests, not --logins");
      }
      if (features !== undefined && options.sink !== undefined) {
        command.error("error: --sink is of the contract's scenarios, not of --features");
      }
      // A file that cannot be written is reported before the run.
      if (out !== undefined) await checkOut(out);
      const findings = await findingsOf(base, options);
      const [{ countsOf }, { report }] = await Promise.all([
        import("../verify/findings.ts"),
        import("../verify/report.ts"),
      ]);
      const text = await report(findings, format);
      if (out === undefined) print(text);
      else await writeOut(out, `${text}\n`);
      const { passed, failed, skipped } = countsOf(findings);
      const result = `${passed} passed, ${failed} failed, ${skipped} not run`;
      if (passed + failed + skipped === 0) {
        const { only } = options;
        throw new Error(
          only === undefined ? "no scenario was found" : `no scenario has "${only}" in its name`,
        );
      }
      if (passed + failed === 0) throw new Error(`no scenario could be run: ${result}`);
      const whose = features === undefined ? "contract says" : "features say";
      if (failed > 0) throw new Error(`${base} does not answer as the ${whose}: ${result}`);
      if (complete && skipped > 0) throw new Error(`the run is not complete: ${result}`);
      if (out !== undefined || format !== "text") note(result);
    });
}

async function findingsOf(url: string, options: VerifyOptions): Promise<Findings> {
  const { features, plan, definitions, logins, only, sink } = options;
  return await withProgress(async (show) => {
    const onProgress = (progress: Omit<Progress, "stage">) =>
      show({ ...progress, stage: "of the scenarios" });
    if (features !== undefined && plan !== undefined) {
      const { verifyFeatures } = await import("../verify/features/steps/run-scenarios.ts");
      const files = { features, plan, definitions: definitions ?? features };
      return await verifyFeatures({ url, ...files, only, onProgress });
    }
    const [{ verify }, { demoLogins, loginsSchema }, { readJsonAs }] = await Promise.all([
      import("../verify/verify.ts"),
      import("../demo-logins.ts"),
      import("../import/json-file.ts"),
    ]);
    const senders = logins === undefined ? demoLogins() : await readJsonAs(loginsSchema, logins);
    return await verify({ url, logins: senders, only, sink, onProgress });
  }, "no report was written, and what was begun at the service stays there");
}
