import { writeFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import type { ReportFormat } from "../verify/report.ts";
import type { Print } from "./print.ts";
import { withProgress } from "./progress.ts";

interface VerifyOptions {
  readonly logins?: string;
  readonly only?: string;
  readonly report: ReportFormat;
  readonly out?: string;
}

/** `ncs verify`: the scenarios of the contract, or those of feature files, against any service. */
export function addVerify(command: Command, print: Print, note: Print): void {
  command
    .option(
      "--logins <file>",
      "who sends the requests, in the form of tools/demo/profiles.json; the demo's own if absent",
    )
    .option("--only <text>", "only scenarios whose names contain this, such as qos-profiles/")
    .addOption(
      new Option("--report <format>", "what is written").choices(["text", "json", "junit"]).default("text"),
    )
    .option("--out <file>", "where the report is written, instead of standard output")
    .addHelpText(
      "after",
      "\nThe service needs the demo data: what tools/demo has, imported with `ncs import`. " +
        "Deliveries that are begun are\ncancelled, and webhook secrets deleted. With --features, the plan says what the " +
        "service needs.\nThe exit code is 1 if any scenario fails.",
    )
    .action(async (url: string, { logins, only, report: format, out }: VerifyOptions) => {
      const [{ verify }, { countsOf, report }, { demoLogins, loginsIn }] = await Promise.all([
        import("../verify/verify.ts"),
        import("../verify/report.ts"),
        import("../demo-logins.ts"),
      ]);
      const base = addressOf(url);
      const findings = await withProgress(async (show) =>
        verify({
          url: base,
          logins: logins === undefined ? demoLogins() : await loginsIn(logins),
          only,
          onProgress: (progress) => show({ ...progress, stage: "of the scenarios" }),
        }),
      );
      const text = report(findings, format);
      if (out === undefined) print(text);
      else await writeFile(out, `${text}\n`);
      const { passed, failed, skipped } = countsOf(findings);
      const result = `${passed} passed, ${failed} failed, ${skipped} skipped`;
      if (passed + failed === 0) throw new Error("no scenario has such a name");
      if (failed > 0) throw new Error(`${base} does not answer as the contract says: ${result}`);
      if (out !== undefined || format !== "text") note(result);
    });
}

function addressOf(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Error(
      `${url} must be the address of a service, such as https://api.example.com or http://127.0.0.1:3000`,
    );
  }
  return url.replace(/\/+$/, "");
}
