import { expect, onTestFinished, test } from "vitest";
import { atMost, inUnit, shown } from "../../tools/bench/bench.ts";
import { documentWith } from "../../tools/bench/document.ts";
import { npm } from "../support/npm.ts";
import { isWhole } from "../support/sample.ts";

const benches = { start: { about: "How starts are measured." }, import: { about: "How imports are." } };
const document = "# Benchmarks\n\n## import\n\nAs before.\n\n## gone\n\nNo such bench.\n";
const seconds = inUnit("s");

test("--write refuses a section of which one row does not hold, and names the row", () => {
  const rows = [atMost("a start", 2, 3, seconds), atMost("a cold start", 4, 3, seconds)];

  expect(() => documentWith(document, benches, { name: "start", rows, load: 0 })).toThrow(
    "start is not written, because its bar is not reached: a cold start (4 s, ≤ 3 s)",
  );
});

test("--write replaces the section of its bench by the rows with a limit, and keeps those of the others", () => {
  const rows = [atMost("a start", 2, 3, seconds), shown("a look", "1 s")];

  const written = documentWith(document, benches, { name: "start", rows, load: 0.5 });

  expect(written).toContain("## start\n\nHow starts are measured.\n\n");
  expect(written).toContain(", load 0.5 before, Node ");
  expect(written).toContain("| a start | 2 s      | ≤ 3 s |");
  expect(written).not.toContain("a look");
  expect(written).toContain("## import\n\nAs before.\n");
  expect(written).not.toContain("gone");
});

test("npm run bench -- --write leaves the document as it is when a bench could measure nothing", () => {
  const rows = [shown("imports", "no such program on this machine")];

  expect(documentWith(document, benches, { name: "import", rows, load: 0 })).toBe(document);
});

test.runIf(isWhole).each(["SIGHUP", "SIGINT", "SIGTERM"] as const)(
  "npm run bench leaves no process and no file behind when %s ends it",
  async (signal) => {
    const bench = npm(["run", "--silent", "bench", "--", "start"]);
    onTestFinished(() => bench.remove());
    await expect.poll(() => bench.temporary()).toHaveLength(1);

    bench.signalGroup(signal);

    await bench.ended;
    await expect.poll(() => bench.processes()).toEqual([]);
    expect(bench.temporary()).toEqual([]);
  },
);
