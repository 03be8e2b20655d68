import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stackName } from "../../infra/app.ts";
import { npm } from "../support/npm.ts";
import { sampleOf } from "../support/sample.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ncs-"));
  await writeFile(join(folder, "outputs.json"), JSON.stringify({ [stackName]: {} }));
  // Takes seconds to read, and refers to no table before that.
  const rows = "b00000000,2026-11-20T08:00:00Z,5000,,\n".repeat(1_000_000);
  await writeFile(join(folder, "counted.csv"), `geohash,startTime,people,minPeople,maxPeople\n${rows}`);
});
afterAll(() => rm(folder, { recursive: true }));

const ends = [
  ["closing the terminal", "SIGHUP", 1],
  ["Ctrl-C, which npm passes on once more", "SIGINT", 1],
  ["Ctrl-C, twice", "SIGINT", 2],
  ["SIGTERM", "SIGTERM", 1],
] as const;

test.each(sampleOf(ends, 1))(
  "an import that is ended by %s leaves no counts on disk",
  async (_, signal, times) => {
    const args = ["density", join(folder, "counted.csv"), "--coverage", "rows"];
    const importing = npm([
      "run",
      "--silent",
      "ncs",
      "--",
      "import",
      ...args,
      "--outputs",
      join(folder, "outputs.json"),
    ]);
    try {
      await expect.poll(() => importing.temporary(), { timeout: 30_000 }).toHaveLength(1);

      for (let time = 0; time < times; time++) importing.signalGroup(signal);

      await importing.ended;
      await expect.poll(() => importing.processes(), { timeout: 10_000 }).toEqual([]);
      expect(importing.temporary()).toEqual([]);
    } finally {
      importing.remove();
    }
  },
  60_000,
);
