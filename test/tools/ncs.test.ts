import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { outputNames, tableOutput } from "../../infra/output-names.ts";
import { stackName } from "../../infra/stack-names.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { runNcs, spawnNcs } from "../support/ncs.ts";
import { npm } from "../support/npm.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sampleOf } from "../support/sample.ts";

const folder = useOwnFolder();
let server: ListeningServer;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const outputs = {
    [stackName]: {
      [tableOutput(densities)]: "densities",
      [tableOutput(densityImports)]: "density-imports",
      [outputNames.densityK]: "10",
      [outputNames.densityPrecisions]: "3-7",
    },
  };
  await folder.write("outputs.json", outputs);
  await folder.write("counted.csv", "geohash,startTime,people\nb00000000,2026-11-20T08:00:00Z,5000\n");
  // A table that answers when it is asked for a key or a partition that nothing has, and hangs otherwise: the import
  // has read its file, and begins to store it.
  server = await listen(
    createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const isForNothing = ['{"S":"-"}', '{"S":"data-set"}', "KeyConditionExpression"].some((part) =>
        body.includes(part),
      );
      if (isForNothing) response.end("{}");
    }),
    0,
  );
  environment = {
    AWS_ENDPOINT_URL_DYNAMODB: server.url,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
});
afterAll(() => server.close());

const ends = [
  ["closing the terminal", "SIGHUP", 1],
  ["Ctrl-C, which npm passes on once more", "SIGINT", 1],
  ["Ctrl-C, twice", "SIGINT", 2],
  ["SIGTERM", "SIGTERM", 1],
] as const;

test.each([
  [["--version"], { code: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: /^$/ }],
  [["nothing"], { code: 1, stdout: /^$/, stderr: /^error: unknown command 'nothing'\n/ }],
  [["\u001b[2J"], { code: 1, stdout: /^$/, stderr: /^error: unknown command '\\u001b\[2J'\n/ }],
] as const)("ncs %j exits with the code and output of the function", async (args, expected) => {
  const ended = await spawnNcs(args);
  expect(ended).toEqual(await runNcs(args));
  expect(ended.code).toBe(expected.code);
  expect(ended.stdout).toMatch(expected.stdout);
  expect(ended.stderr).toMatch(expected.stderr);
});

test.each(sampleOf(ends, 1))(
  "ncs import density leaves no counts on disk when %s ends it",
  async (_, signal, times) => {
    const counted = join(folder.path, "counted.csv");
    const args = ["density", counted, "--coverage", "rows", "--source", "A"];
    const importing = npm(
      ["run", "--silent", "ncs", "--", "import", ...args, "--outputs", join(folder.path, "outputs.json")],
      environment,
    );
    onTestFinished(() => importing.remove());
    await expect.poll(() => importing.temporary()).toHaveLength(1);

    for (let time = 0; time < times; time++) importing.signalGroup(signal);

    await importing.ended;
    await expect.poll(() => importing.processes()).toEqual([]);
    expect(importing.temporary()).toEqual([]);
  },
);
