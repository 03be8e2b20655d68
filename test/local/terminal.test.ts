import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nextSteps } from "../../tools/local/next-steps.ts";
import { isReadable, readableLine, readableLines } from "../../tools/local/readable-lines.ts";

const said = { level: "INFO", message: "request answered", timestamp: "2026-11-22T07:38:33.037Z" };
const request = {
  ...said,
  service: "network-capabilities",
  operation: "qos-profiles/retrieve",
  status: 403,
  code: "PERMISSION_DENIED",
  milliseconds: 12.4,
  caller: "0f3a",
};
const ended = { ...said, message: "job ended", operationId: "7a1f", outcome: "delivered", attempts: 1 };

test.each([
  ["a request", JSON.stringify(request), "07:38:33  403  qos-profiles/retrieve  12 ms  PERMISSION_DENIED"],
  [
    "another line of the log",
    JSON.stringify(ended),
    "07:38:33  INFO  job ended  7a1f  delivered  attempts: 1",
  ],
  ...["Debugger attached.", "{not JSON", '{"level":1}', ""].map((line): [string, string, string] => [
    "other text",
    line,
    line,
  ]),
])("the terminal shows %s, %s, as %s", (_, line, shown) => {
  expect(readableLine(line)).toBe(shown);
});

/** What the terminal shows of lines. */
function shownOf(lines: readonly unknown[], isListening = () => true): string[] {
  let written = "";
  const sink = readableLines({ write: (chunk) => (written += chunk) }, isListening);
  for (const line of lines) {
    sink.write(Buffer.from(typeof line === "string" ? line : `${JSON.stringify(line)}\n`));
  }
  return written.split("\n").slice(0, -1);
}

test("the terminal shows requests for a website's files only when they fail", () => {
  const { code: _, ...served } = { ...request, operation: "publishConsole", status: 200 };
  const missing = { ...request, operation: "publishConsole", status: 404, code: "NOT_FOUND" };
  expect(shownOf([served, missing, request])).toEqual([
    "07:38:33  404  publishConsole  12 ms  NOT_FOUND",
    "07:38:33  403  qos-profiles/retrieve  12 ms  PERMISSION_DENIED",
  ]);
});

test("the terminal shows no steps of the start before the service listens, but warnings and other text", () => {
  const steps = ["DEBUG", "INFO", "WARN"].map((level) => ({ ...said, message: "a step", level }));
  const shown = ["07:38:33  WARN  a step", "Debugger attached."];
  expect(shownOf([...steps, "Debugger attached.\n"], () => false)).toEqual(shown);
  expect(shownOf(steps.slice(1, 2))).toEqual(["07:38:33  INFO  a step"]);
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { LOG_FORMAT: "json" }, false],
  [{}, {}, false],
])(
  "npm start writes lines for people to the stream %j in the environment %j: %j",
  (stream, shell, isRead) => {
    expect(isReadable(stream, shell)).toBe(isRead);
  },
);

const own = "http://127.0.0.1:3000";

test("npm start prints on a terminal what the README shows: pages, a login and a first call", () => {
  const steps = nextSteps(own, ["/", "/openapi.json", "/reference"], { hasDemoLogins: true });
  const [, shown] = /```text terminal\n(.*?)\n```/s.exec(readFileSync("README.md", "utf8")) ?? [];
  expect(`Listening on ${own}\n${steps}`.trimEnd()).toBe(shown);
});

test("npm start names no page that it does not have, another port than 3000, and a login with the demo data alone", () => {
  const other = "http://127.0.0.1:3001";
  expect(nextSteps(own, ["/openapi.json"], { hasDemoLogins: true })).not.toContain("Map");
  expect(nextSteps(other, [], { hasDemoLogins: true })).toContain(`--url ${other} `);
  const steps = nextSteps(other, [], { hasDemoLogins: false });
  expect(steps).toContain("--local 3001");
  expect(steps).not.toContain("password");
});

test("npm start names the place of --around, a model, and otherwise how to get one", () => {
  const place = nextSteps(own, [], { hasDemoLogins: true, around: "Suva, Fiji" });
  expect(place).toContain("Suva, Fiji, by a model, nobody was counted");
  expect(place).not.toContain("--around");
  expect(nextSteps(own, [], { hasDemoLogins: true })).toContain("--around");
});
