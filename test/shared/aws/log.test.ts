import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { log } from "../../../shared/aws/log.ts";
import { captureOutput } from "../../support/pipeline.ts";

let output: ReturnType<typeof captureOutput>;

beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  output.stop();
  vi.unstubAllEnvs();
});

function logAtLevel(level: string): Record<string, unknown>[] {
  vi.stubEnv("LOG_LEVEL", level);
  log("REQUEST", { operation: "say", status: 200 }, [{ metric: "Requests", operation: "say" }]);
  return output
    .text()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

test("log writes the metrics into the log line", () => {
  const [line, ...more] = logAtLevel("INFO");

  expect(more).toEqual([]);
  expect(line).toMatchObject({ id: "NCS-001", operation: "say", status: 200, Requests: 1 });
  expect(line?._aws).toMatchObject({ CloudWatchMetrics: [{ Dimensions: [["operation"]] }] });
});

test("log writes the trace of the invocation, by which X-Ray's console finds the line", () => {
  vi.stubEnv(
    "_X_AMZN_TRACE_ID",
    "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
  );
  expect(logAtLevel("INFO")).toMatchObject([
    { level: "INFO", service: "network-capabilities", xray_trace_id: "1-5759e988-bd862e3fe1be46a994272793" },
  ]);
});

test("log writes only the metrics when the level suppresses the line", () => {
  const [line, ...more] = logAtLevel("ERROR");

  expect(more).toEqual([]);
  expect(Object.keys(line ?? {}).sort()).toEqual(["Requests", "_aws", "operation"]);
});
