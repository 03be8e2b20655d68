import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  importOrder,
  keys,
} from "../../functions/population-density/distributed-import/execution-objects.ts";
import { outputNames } from "../../infra/output-names.ts";
import { densityImportStackOf, stackNames } from "../../infra/stack-names.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { runNcs } from "../support/ncs.ts";
import { startBucket, type TestBucket } from "../support/objects.ts";
import { useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const stateMachineArn = "arn:aws:states:eu-west-1:123456789012:stateMachine:import";

const folder = useOwnFolder();
let bucket: TestBucket;
let stepFunctions: ListeningServer;
let outputs: string;
/** What the state machine was started with. */
let started: { readonly stateMachineArn: string; readonly name: string; readonly input: string };
/** How the execution is each time that somebody looks. */
let states: Readonly<Record<string, unknown>>[];

const mapRunArn = "arn:aws:states:eu-west-1:123456789012:mapRun:import/ReadFiles:1";
const actions: Readonly<Record<string, () => unknown>> = {
  StartExecution: () => ({ executionArn: `${stateMachineArn}:1`, startDate: 0 }),
  DescribeExecution: () => states.shift(),
  ListMapRuns: () => ({ mapRuns: [{ mapRunArn, startDate: 0 }] }),
  DescribeMapRun: () => ({ itemCounts: { succeeded: 1, total: 2 } }),
};

beforeAll(async () => {
  useShell();
  bucket = await startBucket();
  const server = createServer(async (request, response) => {
    const [, action = ""] = String(request.headers["x-amz-target"]).split(".");
    const body = await json(request);
    if (action === "StartExecution") started = body as typeof started;
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.end(JSON.stringify(actions[action]?.()));
  });
  stepFunctions = await listen(server, 0);
  vi.stubEnv("AWS_ENDPOINT_URL_SFN", stepFunctions.url);
  outputs = await folder.write("outputs.json", {
    [stackNames.prod]: { [outputNames.densityK]: "20", [outputNames.densityPrecisions]: "3-6" },
    [densityImportStackOf(stackNames.prod)]: {
      [outputNames.densityImportBucket]: bucket.name,
      [outputNames.densityImportStateMachine]: stateMachineArn,
    },
  });
});
afterAll(async () => {
  await stepFunctions.close();
  await bucket.close();
});

async function importWith(...options: string[]) {
  return await runNcs(["import", "density", ...options, "--outputs", outputs]);
}

test("ncs import density from a bucket starts an execution and prints what it imported", async () => {
  const result = { rows: 12, items: 16, changed: 8, findings: [] };
  states = [{ status: "RUNNING" }, { status: "SUCCEEDED", output: JSON.stringify(result) }];
  const ring = [
    [1, 1],
    [2, 1],
    [2, 2],
    [1, 1],
  ];
  const area = await folder.write("area.geojson", { type: "Polygon", coordinates: [ring] });
  const about = ["--market-share", "0.31", "--source", "The network", "--licence", "CC-BY-4.0"];

  const ended = await importWith(`s3://${bucket.name}/counts/france/`, "--coverage", area, ...about);

  expect(ended).toEqual({ code: 0, stdout: "12 rows, 8 of 16 DynamoDB items changed\n", stderr: "" });
  const order = importOrder.parse(JSON.parse(started.input));
  expect(started).toMatchObject({ stateMachineArn, name: order.id });
  expect(order).toMatchObject({
    prefix: "counts/france/",
    hasArea: true,
    typical: false,
    isRecounted: false,
    marketShare: 0.31,
    threshold: 20,
    precisions: [3, 4, 5, 6],
    provenance: { source: "The network", licence: "CC-BY-4.0" },
  });
  expect(await bucket.list(keys.area(order.id))).toHaveLength(1);
});

const problems = "a.csv: line 2, people: is missing\na.csv: line 3";
const lost = "tile 6/u05k of 2026-11-02 could not be stored (Unavailable)";

test.each([
  ["has refused rows", { status: "FAILED", error: "ImportError", cause: problems }, `${problems}\n`],
  [
    "fails",
    { status: "FAILED", error: "ImportFailed", cause: lost },
    `the import has ended as FAILED: ${lost}\n`,
  ],
  ["is stopped", { status: "ABORTED" }, expect.stringContaining("ended as ABORTED")],
])(
  "ncs import density from a bucket exits with 1 and says why when the execution %s",
  async (_, state, stderr) => {
    states = [state];
    const options = ["--coverage", "rows", "--typical", "--recounted"];
    expect(await importWith(`s3://${bucket.name}/counts/`, ...options)).toEqual({
      code: 1,
      stdout: "",
      stderr,
    });
    const order = importOrder.parse(JSON.parse(started.input));
    expect(order).toMatchObject({ hasArea: false, typical: true, isRecounted: true });
  },
);

test.each([
  ["another bucket", ["s3://other/counts/"], "must be s3://density-import/"],
  ["a whole bucket", ["s3://density-import/"], "must be s3://density-import/"],
  [
    "the folder of earlier imports",
    ["s3://density-import/executions/"],
    "executions/ is for what imports leave",
  ],
  [
    "a file with the bucket",
    ["s3://density-import/counts/", "a.csv"],
    "one s3://bucket/prefix and nothing else",
  ],
])("ncs import density exits with 1 for %s", async (_, files, message) => {
  const refused = await importWith(...files, "--coverage", "rows");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test("ncs import density from a bucket exits with 1 when the import stack is not deployed", async () => {
  const without = await folder.write("without.json", { [stackNames.prod]: {} });
  const options = ["--coverage", "rows", "--outputs", without];
  const refused = await runNcs(["import", "density", "s3://density-import/counts/", ...options]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("-c densityImport=true") });
});
