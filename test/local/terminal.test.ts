import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nextSteps } from "../../tools/local/next-steps.ts";
import { isReadable, readableLine, readableLines } from "../../tools/local/readable-lines.ts";
import { toldBuilding } from "../../tools/local/told-building.ts";

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

test("the terminal shows a request as time, status, operation, duration and code", () => {
  expect(readableLine(JSON.stringify(request))).toBe(
    "07:38:33  403  qos-profiles/retrieve  12 ms  PERMISSION_DENIED",
  );
});

test("the terminal shows any other log line as time, level, message and fields", () => {
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
  "the terminal leaves other text unchanged: %s",
  (line) => {
    expect(readableLine(line)).toBe(line);
  },
);

test("the terminal shows requests for a website's files only when they fail", () => {
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

test("the terminal shows no steps of the start before the service listens, but warnings and other text", () => {
  let written = "";
  let isListening = false;
  const sink = readableLines({ write: (chunk) => (written += chunk) }, () => isListening);
  const {
    operation: _,
    status: __,
    ...step
  } = { ...request, code: undefined, message: "step of a rotation" };
  const write = (line: unknown) => sink.write(Buffer.from(`${JSON.stringify(line)}\n`));
  for (const level of ["DEBUG", "INFO", "WARN"]) write({ ...step, level });
  sink.write(Buffer.from("Debugger attached.\n"));
  isListening = true;
  write(step);

  expect(written.split("\n")).toEqual([
    "07:38:33  WARN  step of a rotation",
    "Debugger attached.",
    "07:38:33  INFO  step of a rotation",
    "",
  ]);
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { LOG_FORMAT: "json" }, false],
  [{}, {}, false],
])(
  "npm start writes lines for people to the stream %j in the environment %j: %j",
  (stream, environment, isRead) => {
    expect(isReadable(stream, environment)).toBe(isRead);
  },
);

test("npm start prints on a terminal what the README shows: pages, a login and a first call", () => {
  const steps = nextSteps("http://127.0.0.1:3000", ["/", "/openapi.json", "/reference"], {
    hasDemoLogins: true,
  });
  const [, shown] = /```text terminal\n(.*?)\n```/s.exec(readFileSync("README.md", "utf8")) ?? [];
  expect(`Listening on http://127.0.0.1:3000\n${steps}`.trimEnd()).toBe(shown);
});

test("without a terminal, npm start writes one line that says what it builds, and none for each step", () => {
  const said: string[] = [];
  const tell = toldBuilding(false, (text) => said.push(text));
  for (const done of [0, 1, 31]) tell({ done, all: 31, functions: 29 });

  expect(said).toEqual(["Building 29 functions and the map, once: about a minute…"]);
});

test("npm start names no page that the service does not have", () => {
  expect(nextSteps("http://127.0.0.1:3000", ["/openapi.json"], { hasDemoLogins: true })).not.toContain("Map");
});

test("npm start names a port other than 3000, and no login when the data are not the demo data", () => {
  expect(nextSteps("http://127.0.0.1:3001", [], { hasDemoLogins: true })).toContain(
    "--url http://127.0.0.1:3001 ",
  );
  const own = nextSteps("http://127.0.0.1:3001", [], { hasDemoLogins: false });
  expect(own).toContain("--local 3001");
  expect(own).not.toContain("password");
});

test("npm start names the place of --around, a model, and otherwise how to get one", () => {
  const place = nextSteps("http://127.0.0.1:3000", [], { hasDemoLogins: true, around: "Suva, Fiji" });
  expect(place).toContain("Suva, Fiji, by a model, nobody was counted");
  expect(place).not.toContain("--around");
  expect(nextSteps("http://127.0.0.1:3000", [], { hasDemoLogins: true })).toContain("--around");
});
