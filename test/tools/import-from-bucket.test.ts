import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  importOrder,
  keys,
} from "../../functions/population-density/distributed-import/execution-objects.ts";
import { outputNames } from "../../infra/output-names.ts";
import { densityImportStackOf, stackNames } from "../../infra/stack-names.ts";
import { runNcs } from "../support/ncs.ts";
import { startBucket, type TestBucket } from "../support/objects.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const publishing = { [outputNames.densityK]: "20", [outputNames.densityPrecisions]: "3-6" };

const stateMachineArn = "arn:aws:states:eu-west-1:123456789012:stateMachine:import";

let bucket: TestBucket;
let stepFunctions: Server;
const folder = useOwnFolder();
let outputs: string;
/** What the state machine was started with. */
let started: { readonly stateMachineArn: string; readonly name: string; readonly input: string };
/** How the execution is each time that somebody looks. */
let states: Readonly<Record<string, unknown>>[];

beforeAll(async () => {
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  bucket = await startBucket();
  stepFunctions = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const action = String(request.headers["x-amz-target"]).replace("AWSStepFunctions.", "");
    response
      .setHeader("content-type", "application/x-amz-json-1.0")
      .end(JSON.stringify(answerTo(action, body)));
  });
  await new Promise<void>((done) => stepFunctions.listen(0, "127.0.0.1", done));
  vi.stubEnv("AWS_ENDPOINT_URL_SFN", `http://127.0.0.1:${(stepFunctions.address() as AddressInfo).port}`);
  const made = {
    [outputNames.densityImportBucket]: bucket.name,
    [outputNames.densityImportStateMachine]: stateMachineArn,
  };
  outputs = await folder.write("outputs.json", {
    [stackNames.prod]: publishing,
    [densityImportStackOf(stackNames.prod)]: made,
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  stepFunctions.close();
  await bucket.close();
});

function answerTo(action: string, body: typeof started): unknown {
  switch (action) {
    case "StartExecution":
      started = body;
      return { executionArn: `${stateMachineArn}:1`, startDate: 0 };
    case "DescribeExecution":
      return states.shift();
    case "ListMapRuns":
      return {
        mapRuns: [
          { mapRunArn: "arn:aws:states:eu-west-1:123456789012:mapRun:import/ReadFiles:1", startDate: 0 },
        ],
      };
    case "DescribeMapRun":
      return { itemCounts: { succeeded: 1, total: 2 } };
    default:
      throw new Error(`${action} is not called`);
  }
}

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

  const ended = await importWith(
    `s3://${bucket.name}/counts/france/`,
    "--coverage",
    area,
    "--market-share",
    "0.31",
    "--source",
    "The network",
    "--licence",
    "CC-BY-4.0",
  );

  expect(ended).toEqual({ code: 0, stdout: "12 rows, 8 of 16 items changed\n", stderr: "" });
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

test("ncs import density from a bucket exits with 1 and prints the problems of refused rows", async () => {
  states = [
    { status: "FAILED", error: "ImportError", cause: "a.csv: line 2, people: is missing\na.csv: line 3" },
  ];
  expect(
    await importWith(`s3://${bucket.name}/counts/`, "--coverage", "rows", "--typical", "--recounted"),
  ).toEqual({
    code: 1,
    stdout: "",
    stderr: "a.csv: line 2, people: is missing\na.csv: line 3\n",
  });
  expect(importOrder.parse(JSON.parse(started.input))).toMatchObject({
    hasArea: false,
    typical: true,
    isRecounted: true,
  });
});

test("ncs import density from a bucket exits with 1 when the execution fails or is stopped", async () => {
  states = [
    {
      status: "FAILED",
      error: "ImportFailed",
      cause: "tile 6/u05k of 2026-11-02 could not be stored (Unavailable)",
    },
  ];
  const failed = await importWith(`s3://${bucket.name}/counts/`, "--coverage", "rows");
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("tile 6/u05k of 2026-11-02") });
  states = [{ status: "ABORTED" }];
  const stopped = await importWith(`s3://${bucket.name}/counts/`, "--coverage", "rows");
  expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining("ended as ABORTED") });
});

test.each([
  ["another bucket", ["s3://other/counts/"], "must be s3://density-import/"],
  ["a whole bucket", ["s3://density-import/"], "must be s3://density-import/"],
  [
    "the folder of earlier imports",
    ["s3://density-import/executions/"],
    "executions/ is for what imports leave",
  ],
  [
    "a file beside the bucket",
    ["s3://density-import/counts/", "a.csv"],
    "one s3://bucket/prefix and nothing else",
  ],
])("ncs import density exits with 1 for %s", async (_, files, message) => {
  const refused = await importWith(...files, "--coverage", "rows");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test("ncs import density from a bucket exits with 1 when the import stack is not deployed", async () => {
  const without = await folder.write("without.json", { [stackNames.prod]: {} });
  const refused = await runNcs([
    "import",
    "density",
    "s3://density-import/counts/",
    "--coverage",
    "rows",
    "--outputs",
    without,
  ]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("-c densityImport=true") });
});
