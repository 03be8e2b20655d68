import { execFile } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { runningService } from "../../tools/local/running-service.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { type NpmProgram, npm, residentMegabytes } from "../support/npm.ts";
import { isWhole, sampleOf } from "../support/sample.ts";

/** What a newcomer types. */
function npmStart(...args: string[]): NpmProgram {
  return npmStartIn({}, ...args);
}

function npmStartIn(environment: NodeJS.ProcessEnv, ...args: string[]): NpmProgram {
  program = npm(["start", "--silent", "--", ...args], environment);
  return program;
}

let program: NpmProgram | undefined;
afterEach(() => program?.remove());

async function listening(started: NpmProgram): Promise<string> {
  await expect.poll(() => started.output()).toContain("\n");
  const [, url = ""] = /^Listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(started.output()) ?? [];
  expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(200);
  return url;
}

async function expectNothingLeft(ended: NpmProgram): Promise<void> {
  await expect.poll(() => ended.processes()).toEqual([]);
  expect(ended.temporary()).toEqual([]);
}

/** How a start is ended: by a signal to npm, by closing its terminal, or by Ctrl-C, which npm passes on once more. */
const ways: Record<string, (started: NpmProgram) => unknown> = {
  SIGTERM: async ({ child, listeningForSignals }) => {
    await listeningForSignals();
    child.kill("SIGTERM");
  },
  "closing the terminal": ({ signalGroup }) => signalGroup("SIGHUP"),
  "Ctrl-C": ({ signalGroup }) => signalGroup("SIGINT"),
  "Ctrl-C, twice": ({ signalGroup }) => {
    signalGroup("SIGINT");
    signalGroup("SIGINT");
  },
};
const end = (how: string, started: NpmProgram) => ways[how]?.(started);

test("npm start prints one line when it can answer, takes at most 400 MB, and exits with 0 after SIGTERM", async () => {
  const started = npmStart("--port", "0");
  const url = await listening(started);

  if (process.platform === "linux") {
    const atRest = () => residentMegabytes(started.processes());
    expect(atRest()).toBeGreaterThan(50);
    await expect.poll(atRest).toBeLessThanOrEqual(400);
  }
  await end("SIGTERM", started);

  expect(await started.ended).toBe(0);
  await expectNothingLeft(started);
  await expect(fetch(`${url}/.well-known/jwks.json`)).rejects.toThrow();
  expect(started.output()).toBe(`Listening on ${url}\n`);
});

test("npm start --data imports into its own tables with any account in the shell, has the token endpoint unless it is off, answers by the two allowed names and no other, names the public one as issuer and server, and leaves nothing behind", async () => {
  const data = temporaryFolder("start-data-");
  copyFileSync("tools/demo/devices.json", join(data.path, "devices.json"));
  // Without densities of its own it gets those of the demo city, which takes longer than the rest.
  const row = "u05kqxy,2026-11-20T12:00:00Z,20";
  if (!isWhole) writeFileSync(join(data.path, "density.csv"), `geohash,startTime,people\n${row}\n`);
  const shell = {
    AWS_PROFILE: "no-such-profile",
    AWS_ENDPOINT_URL: "http://127.0.0.1:1",
    AWS_USE_FIPS_ENDPOINT: "true",
    // Another assembly, which takes longer than the rest to make.
    TOKEN_ENDPOINT: isWhole ? "off" : "on",
  };
  const allowed = ["--allow-host", "Here.example", "--public-url", "https://there.example"];
  const started = npmStartIn(shell, "--port", "0", "--data", data.path, ...allowed);
  const url = await listening(started);
  const servers = await answersByHost(url, ["here.example", "there.example", "rebound.example"]);
  expect(servers).toEqual({
    gateway: [200, 200, 421],
    dynamodb: [200, 200, 403],
    sqs: [500, 500, 403],
    secrets: [400, 400, 403],
  });
  const metadata = await fetch(`${url}/.well-known/openid-configuration`);
  if (isWhole) expect(metadata.status).toBe(404);
  else expect(await metadata.json()).toMatchObject({ issuer: "https://there.example" });
  const document = await (await fetch(`${url}/openapi.json`)).json();
  expect(document).toHaveProperty("servers.0.url", "https://there.example");
  data.remove();
  await expectNothingLeftAfter("closing the terminal", started);
});

/** The status of every server of a running service for requests with these hosts. */
async function answersByHost(url: string, hosts: readonly string[]) {
  const { environment } = runningService(Number(new URL(url).port));
  const servers = {
    gateway: url,
    dynamodb: environment.AWS_ENDPOINT_URL_DYNAMODB ?? "",
    sqs: environment.AWS_ENDPOINT_URL_SQS ?? "",
    secrets: environment.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? "",
  };
  const statusOf = async (server: string, host: string) => {
    const asked = get(server, { headers: { host }, agent: false });
    const [response] = await once(asked, "response");
    response.resume();
    return response.statusCode;
  };
  const answered = Object.entries(servers).map(async ([name, server]) => {
    return [name, await Promise.all(hosts.map((host) => statusOf(server, host)))] as const;
  });
  return Object.fromEntries(await Promise.all(answered));
}

test.runIf(isWhole)("npm start leaves nothing behind after Ctrl-C, twice", async () => {
  const started = npmStart("--port", "0");
  await listening(started);
  await expectNothingLeftAfter("Ctrl-C, twice", started);
});

async function expectNothingLeftAfter(how: string, started: NpmProgram): Promise<void> {
  expect(started.temporary()).not.toEqual([]);
  await end(how, started);
  await started.ended;
  await expectNothingLeft(started);
}

// How far a start has come after so many milliseconds depends on the machine: before the program
// listens for signals it ends as any program does, by the signal, and after that with 0.
const moments = [
  [200, "Ctrl-C"],
  [0, "SIGTERM"],
  [3_000, "closing the terminal"],
] as const;
test.each(sampleOf(moments, 1))(
  "npm start leaves nothing behind when it is ended after %d ms by %s",
  async (delay, how) => {
    const started = npmStart("--port", "0");
    await wait(delay);

    await end(how, started);

    const code = await started.ended;
    if (how === "SIGTERM") expect(code).toBe(0);
    await expectNothingLeft(started);
  },
);

test.each([
  [["--arround", "Suva"], "(Did you mean --around?)"],
  [["--port", "70000"], "It must be a whole number from 0 to 65535."],
  [["--allow-host", "a:1"], "It must be the name of a host, without a port."],
  [["--public-url", "http://a.example"], "It must be an https address without a path"],
])("npm start %j exits with 2 and says: %s", async (args, sentence) => {
  const started = npmStart(...args);
  expect(await started.ended).toBe(2);
  expect(started.errors()).toContain(sentence);
});

test("npm start writes out what a terminal would obey in the path of a folder that is not there", async () => {
  const started = npmStart("--port", "0", "--data", "no\u001b[31m");
  expect(await started.ended).toBe(1);
  expect(started.errors()).toMatch(/^--data: there is no folder .*no\\u001b\[31m\n$/);
});

test.skipIf(process.platform === "win32")(
  "npm start in a shell with ulimit -n 64 says which limit to raise",
  async () => {
    const start = "ulimit -n 64; exec $0 --import ./tools/require-node.mjs tools/local/start.ts --port 0";
    const ending = promisify(execFile)("sh", ["-c", start, process.execPath]);
    await expect(ending).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ulimit -n 1024"),
    });
  },
);

const unusable: readonly (readonly [string, (taken: string) => string[]])[] = [
  ["a port that is taken", (taken) => ["--port", taken]],
  ["a folder that is not there", () => ["--port", "0", "--data", "no-such-folder"]],
  ["a folder without data", () => ["--port", "0", "--data", "docs"]],
  ["both a place and data", () => ["--port", "0", "--around", "Suva", "--data", "tools/demo"]],
  ["to keep state in a folder that has other files", () => ["--port", "0", "--keep", "docs"]],
];
test.each(sampleOf(unusable, 2))("npm start refuses %s before it builds anything", async (_, argsFor) => {
  const taken = await listen(createServer(), 0);
  onTestFinished(() => taken.close());
  const started = npmStart(...argsFor(new URL(taken.url).port));
  const made: string[] = [];
  const looking = setInterval(() => made.push(...started.temporary()), 10);
  expect(await started.ended).toBe(1);
  clearInterval(looking);
  expect(made).toEqual([]);
});
