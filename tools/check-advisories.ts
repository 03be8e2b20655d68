/**
 * Asks the npm registry for advisories of the packages that functions and pages are made of: the dependencies of
 * `package.json`, with what these need. Exits with 1 for a finding, and with 2 where no registry answers: some mirrors
 * have no advisories.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { jsonIn } from "./json-text.ts";
import { visibleText } from "./visible-text.ts";

/** npm's report, version 2. What a package is affected by is an advisory, or the name of a package that it needs. */
const auditReport = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.object({
      range: z.string(),
      via: z.array(
        z.union([z.string(), z.object({ title: z.string(), severity: z.string(), url: z.string() })]),
      ),
    }),
  ),
});

const milliseconds = 60_000;

// Node.js itself is an optional dependency: no function or page has it.
const { stdout } = spawnSync(
  "npm",
  ["audit", "--json", "--omit=dev", "--omit=optional", "--fetch-retries=0", "--fetch-timeout=30000"],
  {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    shell: process.platform === "win32",
    timeout: milliseconds,
  },
);
const report = auditReport.safeParse(jsonIn(stdout ?? ""));
if (!report.success) {
  console.error(
    "no registry has answered with advisories: nothing is known of what functions and pages contain",
  );
  process.exit(2);
}
const findings = Object.entries(report.data.vulnerabilities).flatMap(([name, { range, via }]) =>
  via.map((one) =>
    typeof one === "string"
      ? `${name} ${range}: needs ${one}`
      : `${one.severity}: ${name} ${range}: ${one.title} (${one.url})`,
  ),
);
if (findings.length > 0) {
  console.error(visibleText(findings.join("\n")));
  process.exit(1);
}
console.log("no advisory of what functions and pages contain");
