import { type MetricName, metrics } from "../../shared/aws/metrics.ts";

/** The names of all metrics. */
export const metricNames = Object.keys(metrics) as MetricName[];
