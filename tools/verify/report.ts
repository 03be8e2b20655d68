import { visibleText } from "../visible-text.ts";
import { countsOf, type Findings } from "./findings.ts";

/** The form of a report. */
export type ReportFormat = "text" | "json" | "junit" | "html";

/** A report for a person, a program, a CI system, or to hand on. */
export async function report(findings: Findings, format: ReportFormat): Promise<string> {
  switch (format) {
    case "text":
      return textOf(findings);
    case "json":
      return JSON.stringify({ ...findings, ...countsOf(findings), skipped: findings.skipped }, null, 2);
    case "junit":
      return junitOf(findings);
    case "html": {
      const { htmlOf } = await import("./html-report.ts");
      return await htmlOf(findings);
    }
  }
}

function textOf(findings: Findings): string {
  const { passed, failed, skipped } = countsOf(findings);
  const lines = [
    ...findings.outcomes.map(({ name, failure, notes = [] }) => {
      const note = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
      return failure === undefined ? `ok       ${name}${note}` : `FAILED   ${name}: ${failure}${note}`;
    }),
    ...findings.skipped.map(({ name, reason }) => `not run  ${name}: ${reason}`),
  ];
  // A line end of a provider's text does not begin the line of another scenario.
  const shown = lines.map((line) => visibleText(line).replaceAll(/\r?\n/g, "\n         "));
  return [...shown, `${passed} passed, ${failed} failed, ${skipped} not run`].join("\n");
}

/** https://github.com/testmoapp/junitxml */
function junitOf(findings: Findings): string {
  const { url, outcomes, skipped } = findings;
  const { failed } = countsOf(findings);
  const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(3);
  const all = outcomes.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const [tests, time] = [outcomes.length + skipped.length, seconds(all)];
  const open = (name: string) => {
    const [area = "", ...test] = name.split("/");
    return `    <testcase classname="${escaped(area)}" name="${escaped(test.join("/"))}"`;
  };
  const counts = `tests="${tests}" failures="${failed}" skipped="${skipped.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="${escaped(url)}" ${counts} time="${time}">`,
    ...outcomes.map(({ name, failure, milliseconds }) => {
      const begun = `${open(name)} time="${seconds(milliseconds)}"`;
      return failure === undefined
        ? `${begun}/>`
        : `${begun}><failure message="${escaped(failure)}"/></testcase>`;
    }),
    ...skipped.map(({ name, reason }) => `${open(name)}><skipped message="${escaped(reason)}"/></testcase>`),
    "  </testsuite>",
    "</testsuites>",
  ].join("\n");
}

/** Characters that no document may have, not even as a reference: https://www.w3.org/TR/xml/#charsets */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return text
    .replaceAll(forbidden, "")
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
}
