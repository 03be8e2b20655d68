import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { captureOutput } from "../../support/pipeline.ts";

let output: ReturnType<typeof captureOutput>;

beforeEach(() => {
  output = captureOutput();
  // The logger reads its level once, when its module is loaded.
  vi.resetModules();
});
afterEach(() => {
  output.stop();
  vi.unstubAllEnvs();
});

async function logAtLevel(level: string): Promise<Record<string, unknown>[]> {
  vi.stubEnv("LOG_LEVEL", level);
  const { log } = await import("../../../shared/aws/log.ts");
  log("REQUEST", { operation: "say", status: 200 }, [{ metric: "Requests", operation: "say" }]);
  return output
    .text()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

test("log writes the metrics into the log line", async () => {
  const [line, ...more] = await logAtLevel("INFO");

  expect(more).toEqual([]);
  expect(line).toMatchObject({ id: "NCS-001", operation: "say", status: 200, Requests: 1 });
  expect(line?._aws).toMatchObject({ CloudWatchMetrics: [{ Dimensions: [["operation"]] }] });
});

test.each(["", "INFO"])(
  "log writes only the metrics when the level suppresses the line, with Lambda's level '%s'",
  async (ofLambda) => {
    vi.stubEnv("AWS_LAMBDA_LOG_LEVEL", ofLambda);
    const [line, ...more] = await logAtLevel("ERROR");

    expect(more).toEqual([]);
    expect(Object.keys(line ?? {}).sort()).toEqual(["Requests", "_aws", "operation"]);
  },
);
