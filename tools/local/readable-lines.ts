import * as z from "zod";
import { websites } from "../../functions/areas.ts";
import { jsonIn } from "../json-text.ts";
import { visibleText } from "../visible-text.ts";
import type { LogSink } from "./lambda/log-sink.ts";

const logLine = z.looseObject({
  level: z.string(),
  message: z.string(),
  timestamp: z.iso.datetime(),
  operation: z.string().optional(),
  status: z.number().optional(),
  code: z.string().optional(),
  milliseconds: z.number().optional(),
  operationId: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  attempts: z.number().optional(),
  cause: z.string().optional(),
});

/** Whether to write lines for people: on a terminal, unless `LOG_FORMAT` is `json`. */
export function isReadable(stream: { readonly isTTY?: boolean }, { LOG_FORMAT }: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && LOG_FORMAT !== "json";
}

/**
 * Rewrites each JSON log line of the functions for people; other text is unchanged. Leaves out metrics, and pages and
 * assets that were served: a browser loads a dozen of them per page, among the requests that matter. Before the service
 * listens, it leaves out what is no warning, too: steps of the start, such as the first signing key.
 */
export function readableLines(to: LogSink, isListening: () => boolean = () => true): LogSink {
  let begun = "";
  return {
    write: (chunk) => {
      const lines = (begun + Buffer.from(chunk as Uint8Array).toString()).split("\n");
      begun = lines.pop() ?? "";
      for (const line of lines) {
        const isStep = !isListening() && isInformation(line);
        if (isStep || isMetrics(line) || isServedFile(line)) continue;
        to.write(`${visibleText(readableLine(line))}\n`);
      }
    },
  };
}

/** Formats a log line; for a request: time, status, operation, milliseconds, and the error's code. */
export function readableLine(line: string): string {
  const parsed = logLine.safeParse(jsonIn(line));
  if (!parsed.success) return line;
  const { level, message, timestamp, operation, status, code, milliseconds, cause, ...others } = parsed.data;
  const time = timestamp.slice(11, 19);
  if (status !== undefined && operation !== undefined) {
    const took = milliseconds === undefined ? "" : `${Math.round(milliseconds)} ms`;
    return [time, status, operation, took, code ?? "", cause ?? ""].filter((part) => part !== "").join("  ");
  }
  const { operationId, outcome, reason, attempts } = others;
  const attempted = attempts === undefined ? undefined : `attempts: ${attempts}`;
  const details = [operation, operationId, outcome, reason, attempted, code, cause];
  return [time, level, message, ...details].filter((part) => part !== undefined).join("  ");
}

/** Whether a line contains nothing but metrics, in CloudWatch's embedded metric format. */
function isMetrics(line: string): boolean {
  const parsed = jsonIn(line);
  return typeof parsed === "object" && parsed !== null && "_aws" in parsed && !("message" in parsed);
}

function isInformation(line: string): boolean {
  return ["DEBUG", "INFO"].includes(logLine.safeParse(jsonIn(line)).data?.level ?? "");
}

const websiteOperations = new Set<string | undefined>(websites.map(({ operationId }) => operationId));

/** Whether a line is about a successful request for a page or an asset. */
function isServedFile(line: string): boolean {
  const { data } = logLine.safeParse(jsonIn(line));
  return data?.status !== undefined && data.status < 400 && websiteOperations.has(data.operation);
}
