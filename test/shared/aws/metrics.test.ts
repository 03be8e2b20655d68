import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Count, metrics, writeMetrics } from "../../../shared/aws/metrics.ts";
import { metricNames } from "../../support/metric-names.ts";
import { captureOutput } from "../../support/pipeline.ts";

let output: ReturnType<typeof captureOutput>;

beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  output.stop();
  vi.unstubAllEnvs();
});

test("a line of metrics has the unit of each metric's name and the stage's namespace", () => {
  vi.stubEnv("METRIC_NAMESPACE", "NetworkCapabilities-dev");
  writeMetrics([
    { metric: "RequestMilliseconds", value: 12 },
    { metric: "FirstAttemptSeconds", value: 2.5 },
    { metric: "SigningKeyAgeDays", value: 3 },
    { metric: "Attempts" },
  ]);
  const { _aws } = JSON.parse(output.text());
  expect(_aws.CloudWatchMetrics).toMatchObject(
    ["Milliseconds", "Seconds", "None", "Count"].map((Unit) => ({
      Namespace: "NetworkCapabilities-dev",
      Metrics: [{ Unit }],
    })),
  );
});

const counts: readonly Count[] = [
  { metric: "Requests", operation: "say" },
  { metric: "Errors", code: "INTERNAL" },
  { metric: "DensitySlots", value: 1_204_224 },
];

test("metrics are one line of the embedded metric format, each metric with its own dimension only", () => {
  const before = Date.now();
  writeMetrics(counts);

  expect(output.text()).toMatch(/^\{.*\}\n$/);
  const { _aws, ...members } = JSON.parse(output.text());
  expect(members).toEqual({
    operation: "say",
    Requests: 1,
    code: "INTERNAL",
    Errors: 1,
    DensitySlots: 1_204_224,
  });
  expect(_aws.Timestamp).toBeGreaterThanOrEqual(before);
  expect(_aws.Timestamp).toBeLessThanOrEqual(Date.now());
  const directive = (Name: string, ...dimensions: string[]) => ({
    Namespace: "NetworkCapabilities",
    Dimensions: [dimensions],
    Metrics: [{ Name, Unit: "Count" }],
  });
  expect(_aws.CloudWatchMetrics).toEqual([
    directive("Requests", "operation"),
    directive("Errors", "code"),
    directive("DensitySlots"),
  ]);
});

test("no metric has the name of a dimension, as both are members of the same line", () => {
  const dimensions: readonly (string | undefined)[] = Object.values(metrics);
  expect(metricNames.length).toBeGreaterThan(0);
  expect(metricNames.filter((name) => dimensions.includes(name))).toEqual([]);
});
