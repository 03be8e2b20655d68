import { afterEach, beforeEach, expect, it, vi } from "vitest";
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

it("names the unit that the metric's name ends in, and the stage's namespace", () => {
  vi.stubEnv("METRIC_NAMESPACE", "NetworkCapabilities-dev");
  writeMetrics([
    { metric: "RequestMilliseconds", value: 12 },
    { metric: "FirstAttemptSeconds", value: 2.5 },
    { metric: "SigningKeyAgeDays", value: 3 },
    { metric: "Attempts" },
  ]);
  const { _aws } = JSON.parse(output.text());
  const units = _aws.CloudWatchMetrics.map(
    ({ Namespace, Metrics: [{ Unit }] }: { Namespace: string; Metrics: [{ Unit: string }] }) => [
      Namespace,
      Unit,
    ],
  );
  const namespace = "NetworkCapabilities-dev";
  expect(units).toEqual(["Milliseconds", "Seconds", "None", "Count"].map((unit) => [namespace, unit]));
});

const counts: readonly Count[] = [
  { metric: "Requests", operation: "say" },
  { metric: "Errors", code: "INTERNAL" },
  { metric: "DensitySlots", value: 1_204_224 },
];

it("is one line of the embedded metric format, each count with its own dimension and no other", () => {
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

it("is written whatever the level of the log", () => {
  vi.stubEnv("LOG_LEVEL", "SILENT");
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
  writeMetrics(counts);
  expect(output.text()).toContain("CloudWatchMetrics");
});

it("is lost without a word when it cannot be written", () => {
  const write = vi.spyOn(process.stdout, "write").mockImplementation(() => {
    throw new Error("EPIPE");
  });
  expect(() => writeMetrics(counts)).not.toThrow();
  expect(write).toHaveBeenCalled();
});

it("has no metric whose name is a dimension's: both are members of the same line", () => {
  const dimensions: readonly (string | undefined)[] = Object.values(metrics);
  expect(metricNames.length).toBeGreaterThan(0);
  expect(metricNames.filter((name) => dimensions.includes(name))).toEqual([]);
});
