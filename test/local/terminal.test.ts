import { expect, test } from "vitest";
import { nextSteps } from "../../tools/local/next-steps.ts";
import { isReadable, readableLine, readableLines } from "../../tools/local/readable-lines.ts";

const request = {
  level: "INFO",
  message: "request answered",
  timestamp: "2026-11-22T07:38:33.037Z",
  service: "network-capabilities",
  operation: "qos-profiles/retrieve",
  status: 403,
  code: "PERMISSION_DENIED",
  milliseconds: 12.4,
  caller: "0f3a",
};

test("a request is one line: time, status, operation, duration, code", () => {
  expect(readableLine(JSON.stringify(request))).toBe(
    "07:38:33  403  qos-profiles/retrieve  12 ms  PERMISSION_DENIED",
  );
});

test("any other line of a function says what happened, and to which operation", () => {
  const { level, timestamp } = request;
  const ended = {
    level,
    timestamp,
    message: "job ended",
    operationId: "7a1f",
    outcome: "delivered",
    attempts: 1,
  };
  expect(readableLine(JSON.stringify(ended))).toBe("07:38:33  INFO  job ended  7a1f  delivered  attempts: 1");
});

test.each(["Debugger attached.", "{not JSON", '{"level":1}', ""])(
  "text of another form stays: %s",
  (line) => {
    expect(readableLine(line)).toBe(line);
  },
);

test("lines are read as they were written, however they are cut", () => {
  let written = "";
  const sink = readableLines({ write: (chunk) => (written += chunk) });
  const bytes = Buffer.from(`${JSON.stringify(request)}\nplain\n`);
  for (const byte of bytes) sink.write(Buffer.from([byte]));
  expect(written).toBe("07:38:33  403  qos-profiles/retrieve  12 ms  PERMISSION_DENIED\nplain\n");
});

test("metrics are for CloudWatch, and have no line", () => {
  let written = "";
  const sink = readableLines({ write: (chunk) => (written += chunk) });
  const metrics = { _aws: { Timestamp: 1, CloudWatchMetrics: [] }, OldestJobSeconds: 0 };
  sink.write(Buffer.from(`${JSON.stringify(metrics)}\nplain\n`));
  expect(written).toBe("plain\n");
});

test("the pages and assets of a website have a line when they fail, and the requests of a page have theirs", () => {
  let written = "";
  const sink = readableLines({ write: (chunk) => (written += chunk) });
  const { code: _, ...served } = { ...request, operation: "publishConsole", status: 200 };
  const missing = { ...request, operation: "publishConsole", status: 404, code: "NOT_FOUND" };
  for (const line of [served, missing, request]) sink.write(Buffer.from(`${JSON.stringify(line)}\n`));
  expect(written.split("\n")).toEqual([
    "07:38:33  404  publishConsole  12 ms  NOT_FOUND",
    "07:38:33  403  qos-profiles/retrieve  12 ms  PERMISSION_DENIED",
    "",
  ]);
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { LOG_FORMAT: "json" }, false],
  [{}, {}, false],
])("whether %j with %j is read by a person: %j", (stream, environment, isRead) => {
  expect(isReadable(stream, environment)).toBe(isRead);
});

test("the next steps name a login, a first call, and the pages that the service has", () => {
  const steps = nextSteps("http://127.0.0.1:3000", ["/openapi.json", "/reference"], true);
  expect(steps).toContain('app@example.com, password "correct horse battery staple"');
  expect(steps).toContain("npm run ncs -- call retrieveQosProfiles --as app@example.com '{");
  expect(steps).toMatch(/Reference: +http:\/\/127\.0\.0\.1:3000\/reference\n/);
  expect(steps).not.toContain("Map");
});

test("the next steps name the port of a service that does not run on 3000, and of other data no login", () => {
  expect(nextSteps("http://127.0.0.1:3001", [], true)).toContain("--url http://127.0.0.1:3001 ");
  const own = nextSteps("http://127.0.0.1:3001", [], false);
  expect(own).toContain("--local 3001");
  expect(own).not.toContain("password");
});
