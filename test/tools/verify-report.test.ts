import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { report } from "../../tools/verify/report.ts";
import { has } from "../support/mounted.ts";

/** An escape that would clear a terminal, NUL, DEL, a C1 control, a mark of direction, half a character, a line end. */
const code = "\u001b[2J\u0000\u007f\u009b\u202e\ud800\uffff\nok       keys/forged";
const findings = {
  url: "https://provider.example",
  outcomes: [{ name: "keys/list", milliseconds: 1, failure: `expected NOT_FOUND, answered ${code}` }],
  skipped: [{ name: "keys/\u001b[1mnone", reason: "no \u0007bell" }],
};

test("ncs verify writes control characters of a provider's answer as escapes, and no line of another scenario", async () => {
  expect(await report(findings, "text")).toBe(
    "FAILED   keys/list: expected NOT_FOUND, answered \\u001b[2J\\u0000\\u007f\\u009b\\u202e\ud800\uffff\n" +
      "         ok       keys/forged\n" +
      "not run  keys/\\u001b[1mnone: no \\u0007bell\n" +
      "0 passed, 1 failed, 1 not run",
  );
});

test("ncs verify --report junit leaves out what XML 1.0 forbids", async () => {
  const xml = await report(findings, "junit");
  expect(xml).toContain('message="expected NOT_FOUND, answered [2J\u007f\u009b\u202e\nok       keys/forged"');
  expect(xml).toContain('name="[1mnone"><skipped message="no bell"/>');
});

test.runIf(has("python3", "-c", "import xml.etree"))(
  "ncs verify --report junit is well-formed for Python's parser with any character in a provider's answer",
  async () => {
    const all = Array.from({ length: 0x10000 }, (_, character) => String.fromCharCode(character)).join(" ");
    const [outcome] = findings.outcomes;
    const outcomes = [{ name: "keys/list", milliseconds: 1, ...outcome, failure: all }];
    const input = await report({ ...findings, outcomes }, "junit");
    const program =
      "import sys, xml.etree.ElementTree as e; print(e.fromstring(sys.stdin.buffer.read()).tag)";
    expect(execFileSync("python3", ["-c", program], { input, encoding: "utf8" })).toBe("testsuites\n");
  },
);

test("ncs verify --report html is a page with any control character in a provider's answer", async () => {
  const skipped = [{ name: "keys/none", reason: "carriage\rreturn\u2028and \u001b" }];
  expect(await report({ ...findings, skipped }, "html")).toContain("</html>");
});
