import { expect, onTestFinished, test } from "vitest";
import { npm } from "../support/npm.ts";
import { isWhole } from "../support/sample.ts";

test.runIf(isWhole).each(["SIGHUP", "SIGINT", "SIGTERM"] as const)(
  "npm run bench leaves no process and no file behind when %s ends it",
  async (signal) => {
    const bench = npm(["run", "--silent", "bench", "--", "start"]);
    onTestFinished(() => bench.remove());
    await expect.poll(() => bench.temporary(), { timeout: 30_000 }).toHaveLength(1);

    bench.signalGroup(signal);

    await bench.ended;
    await expect.poll(() => bench.processes()).toEqual([]);
    expect(bench.temporary()).toEqual([]);
  },
  180_000,
);
