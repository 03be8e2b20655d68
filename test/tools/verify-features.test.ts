import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { readDefinitions } from "../../tools/verify/features/definitions.ts";
import { Unexpected } from "../../tools/verify/features/ending.ts";
import { isInArea } from "../../tools/verify/features/geohash-in-area.ts";
import { parseFeatures } from "../../tools/verify/features/parse-features.ts";
import { readPlan } from "../../tools/verify/features/plan.ts";
import { openSurroundings, stepOf, verifyFeatures } from "../../tools/verify/features/run-scenarios.ts";
import { answerSteps } from "../../tools/verify/features/steps/answer.ts";
import { cellSteps } from "../../tools/verify/features/steps/cells.ts";
import { deliverySteps } from "../../tools/verify/features/steps/deliveries.ts";
import { pseudonymSteps } from "../../tools/verify/features/steps/pseudonyms.ts";
import { World } from "../../tools/verify/features/world.ts";
import { openLockers } from "../support/lockers.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = new URL("features", import.meta.url).pathname;
const planFile = join(folder, "plan.json");
const plan = JSON.parse(readFileSync(planFile, "utf8"));
const temporary = useOwnFolder();
/** Writes the plan of these tests with some members changed. */
const planWith = (changes: object) => temporary.write("plan.json", { ...plan, ...changes });
let lockers: ListeningServer;
beforeAll(async () => {
  lockers = await openLockers();
});
afterAll(() => lockers.close());

const filesAt = (url: string, plan = planFile) => ({ url, features: folder, definitions: folder, plan });

/** A folder with one feature file, whose scenarios are about one resource. @param scenarios by tag. */
async function writeFeature(
  name: string,
  scenarios: Readonly<Record<string, readonly string[]>>,
  resource = "/lockers/v1/find",
): Promise<string> {
  const features = join(temporary.path, name);
  const written = Object.entries(scenarios).map(([tag, steps]) =>
    [`@${tag}`, `Scenario: ${tag}`, `Given the resource "${resource}"`, ...steps].join("\n"),
  );
  await temporary.write(`${name}/${name}.feature`, [`Feature: ${name}`, ...written].join("\n\n"));
  return features;
}

test("ncs verify --features exits with 0 when a service answers as the features say", async () => {
  const { code, stdout, stderr } = await runNcs([
    "verify",
    lockers.url,
    ...["--features", folder, "--plan", planFile],
  ]);
  expect(stdout.split("\n").filter((line) => !line.startsWith("ok "))).toEqual([
    "14 passed, 0 failed, 0 not run",
    "",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("lockers/find_by_status example 2");
  expect(stdout).toContain("lockers/identify ($.DEVICE is read as $.device");
});

test("ncs verify fails every scenario of a server that answers 200 and {} to everything", async () => {
  const empty = await listen(
    createServer((_, response) => response.end("{}")),
    0,
  );
  onTestFinished(() => empty.close());
  const { outcomes } = await verifyFeatures(filesAt(empty.url));
  expect(outcomes.filter(({ failure }) => failure === undefined)).toEqual([]);
  const failures = Object.fromEntries(outcomes.map(({ name, failure }) => [name, failure]));
  expect(failures["lockers/expired"]).toBe("expected 401, answered 200 (the response status code is 401)");
});

test("every Then step of our own features accepts the right answer and refuses 599 with 12345 as its body", async () => {
  const surroundings = await openSurroundings(filesAt(lockers.url));
  onTestFinished(() => surroundings.receiver?.close());
  const receiver = surroundings.receiver && { ...surroundings.receiver, delivery: async () => undefined };
  const wrong = {
    answer: { status: 599, headers: new Headers(), body: 12345 },
    delivery: undefined,
    surroundings: { ...surroundings, receiver },
  };
  for (const scenario of await parseFeatures(folder)) {
    const world = new World(surroundings, scenario);
    const steps = scenario.steps.map((step) => ({ ...step, ...stepOf(step.text) }));
    for (const { arrange } of steps) arrange?.(world);
    for (const { text, isOutcome, run } of steps) {
      await run(world);
      // A property that need not be there is not missing in 12345.
      if (!isOutcome || text.includes("if present")) continue;
      const { answer, delivery } = world;
      Object.assign(world, wrong);
      await expect((async () => await run(world))(), text).rejects.toBeInstanceOf(Unexpected);
      Object.assign(world, { answer, delivery, surroundings });
    }
  }
});

test("our own features use every Then step that the runner knows", async () => {
  const sentences = (await parseFeatures(folder)).flatMap(({ steps }) => steps.map(({ text }) => text));
  const unused = [...answerSteps, ...cellSteps, ...deliverySteps, ...pseudonymSteps]
    .map(({ pattern }) => pattern)
    .filter((pattern) => !sentences.some((text) => pattern.test(text)));
  expect(unused).toEqual([]);
});

test("ncs verify reports scenarios that cannot be run with the reason, and exits with 1 when none could be", async () => {
  const sent = 'When the request "findLockers" is sent';
  const otherCaller =
    'Given the header "Authorization" is set to a valid access token obtained for a different device';
  const features = await writeFeature("unknown", {
    moon: [sent, "Then the moon is full"],
    late: [otherCaller, sent, "Then the response status code is 200"],
  });
  const out = join(temporary.path, "report.xml");
  const args = ["--features", features, "--definitions", folder, "--plan", planFile];
  const { code, stdout, stderr } = await runNcs(["verify", lockers.url, ...args]);
  expect(stdout.split("\n")).toEqual([
    "not run  unknown/moon: no step is known for: the moon is full",
    expect.stringMatching(/^not run {2}unknown\/late: the plan has no devices\.otherCaller \(/),
    "0 passed, 0 failed, 2 not run",
    "",
  ]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "no scenario could be run: 0 passed, 0 failed, 2 not run\n",
  });
  await runNcs(["verify", lockers.url, ...args, "--report", "junit", "--out", out]);
  const xml = await readFile(out, "utf8");
  expect(xml).toContain('tests="2" failures="0" skipped="2"');
  expect(xml).toContain('name="moon"><skipped message="no step is known for: the moon is full"/>');
});

test("ncs verify --complete exits with 1 when a scenario could not be run although others passed", async () => {
  const sent = 'When the request "findLockers" is sent';
  const authorized = 'Given the header "Authorization" is set to a valid access token';
  const features = await writeFeature("partly", {
    all: [authorized, sent, "Then the response status code is 200"],
    moon: [sent, "Then the moon is full"],
  });
  const args = ["--features", features, "--definitions", folder, "--plan", planFile];
  const { code } = await runNcs(["verify", lockers.url, ...args]);
  const complete = await runNcs(["verify", lockers.url, ...args, "--complete"]);
  expect(code).toBe(0);
  expect(complete).toMatchObject({
    code: 1,
    stderr: "the run is not complete: 1 passed, 0 failed, 1 not run\n",
  });
});

test.each([
  [["--features", folder], "--features and --plan need each other"],
  [["--plan", planFile], "--features and --plan need each other"],
  [["--definitions", folder], "--definitions needs --features"],
  [["--features", folder, "--plan", planFile, "--logins", planFile], "the plan says who sends the requests"],
  [["--features", join(folder, ".."), "--plan", planFile], "has no .feature file"],
  [["--features", "/nowhere", "--plan", planFile], "/nowhere cannot be read: ENOENT, no such file or folder"],
  [["--features", folder, "--plan", planFile, "--definitions", join(folder, "..")], "has no API definition"],
  [["--features", folder, "--plan", planFile, "--out", "/nowhere/at/all"], "cannot be written: ENOENT"],
])("ncs verify %j exits with 1 and the reason", async (args, reason) => {
  const { code, stderr } = await runNcs(["verify", "http://127.0.0.1:2", ...args]);
  expect(code).toBe(1);
  expect(stderr).toContain(reason);
});

test.each([
  [
    { application: "anyon", devices: { unknwon: {} }, receiver: { port: "80" } },
    "plan.json: devices.unknwon: unknown field; did you mean unknown?",
  ],
  [{ application: "anyon" }, "plan.json: application: there is no caller anyon: did you mean anyone?"],
  [{ callers: {} }, /^plan\.json: callers: must have one caller at least$/],
])(
  "ncs verify refuses a plan with %j, and names the place and the nearest name",
  async (changes, message) => {
    await expect(readPlan(await planWith(changes))).rejects.toThrow(message);
  },
);

test("a definition validates a value by the schema that its discriminator names", async () => {
  const cell = "/components/schemas/Cell";
  const [definition] = await readDefinitions(folder);
  if (definition === undefined) throw new Error("the folder has a definition");
  expect(definition.problemOf({ geohash: "u", dataType: "LOW" }, cell)).toBeUndefined();
  expect(definition.problemOf({ geohash: "u", dataType: "ESTIMATE", people: 1 }, cell)).toBeUndefined();
  expect(definition.problemOf({ geohash: "u", dataType: "ESTIMATE" }, cell)).toContain("people");
});

test("ncs verify takes cells that touch the area in any way and no others", () => {
  const triangle = [
    { latitude: 45.75, longitude: 4.86 },
    { latitude: 45.75, longitude: 4.87 },
    { latitude: 45.76, longitude: 4.865 },
  ];
  // Around the area, within it, next to it, far away, and no geohash.
  expect(
    ["u05kq", "u05kq9nd", "u05kqd5", "s0000", "u05a"].map((geohash) => isInArea(geohash, triangle)),
  ).toEqual([true, true, false, false, false]);
});

test("a scenario is reported as not run when its threshold of requests is not reached in time", async () => {
  const slow = await listen(
    createServer((_, response) => void setTimeout(() => response.end("{}"), 150)),
    0,
  );
  onTestFinished(() => slow.close());
  const features = await writeFeature("threshold", {
    threshold: [
      "Given that the environment is configured with a threshold policy of N transactions per second",
      "Given the threshold of requests has been reached",
      'When the request "findLockers" is sent',
      "Then the response status code is 429",
    ],
  });
  const runOf = async (seconds: number) => {
    const plan = await planWith({ threshold: { caller: "anyone", requests: 8, seconds } });
    return await verifyFeatures({ url: slow.url, features, definitions: folder, plan });
  };
  expect((await runOf(60)).outcomes).toMatchObject([
    { failure: expect.stringMatching(/^none of 8 requests in [\d.]+ s was answered with 429: the limit/) },
  ]);
  expect((await runOf(0.1)).skipped).toMatchObject([
    { reason: expect.stringMatching(/^8 requests took [\d.]+ s/) },
  ]);
});

const imei = "490154203237518";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
let answers = 0;

test.each([
  ["the same for two devices", (token: string) => token, "another device has the pseudonym of DEVICE2"],
  ["another each time", (token: string) => `${token} ${answers++}`, "DEVICE1 had another pseudonym before"],
  ["the same for two clients", () => "0f", "another client gets the same pseudonym"],
  ["the IMEI's digest", () => sha256(imei), "anyone can compute the pseudonym"],
  ["a digest with the client", () => sha256(`subject:${imei}`), "anyone can compute the pseudonym"],
])("a pseudonym that is %s is refused", async (_, pseudonymFor, failure) => {
  const identified = (device: string, pseudonym: string) => [
    `Given SIMCARD1 is installed within ${device}, which is connected to the network`,
    "And SIMCARD1 is identified by the access token",
    'When the HTTPS "POST" request is sent',
    `Then the response property "$.ppid" exists and is equal to ${pseudonym}`,
  ];
  const first = identified("DEVICE1", "PPID1");
  const scenarios = { first, again: first, other: identified("DEVICE2", "PPID2") };
  const features = await writeFeature(`pseudonyms-${answers++}`, scenarios, "/lockers/v1/identify");
  const withTwo = await planWith({ simCards: [...plan.simCards, { ...plan.simCards[0], in: "DEVICE2" }] });
  const service = await openLockers(pseudonymFor);
  onTestFinished(() => service.close());
  const { outcomes } = await verifyFeatures({
    url: service.url,
    features,
    definitions: folder,
    plan: withTwo,
  });
  const [failed] = outcomes.flatMap((outcome) => outcome.failure ?? []);
  expect(failed).toMatch(new RegExp(`^${failure} \\(the response property`));
});

test("the runner sends requests to the paths that the plan names, with a token from the environment", async () => {
  const asked: string[] = [];
  const elsewhere = await listen(
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.end("[]");
    }),
    0,
  );
  const steps = [
    'Given the header "Authorization" is set to a valid access token',
    'When the request "getLocker" is sent',
    "Then the response status code is 200",
  ];
  const named = ['Given the path param "name" is set by default to an existing QoS profile name', ...steps];
  const features = await writeFeature("paths", { paths: named }, "/lockers/v1/lockers/{name}");
  const callers = { ...plan.callers, anyone: { from: { environment: "LOCKERS_TOKEN" }, scopes: [] } };
  const paths = { "/lockers/v1/lockers/{name}": "/v2/{name}" };
  const elsewherePlan = await planWith({ callers, paths });
  const run = { url: elsewhere.url, features, definitions: folder, plan: elsewherePlan };
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await elsewhere.close();
  });
  const { skipped } = await verifyFeatures(run);
  expect(skipped).toMatchObject([{ reason: expect.stringMatching(/^set LOCKERS_TOKEN to a token/) }]);
  vi.stubEnv("LOCKERS_TOKEN", "from the shell");
  expect((await verifyFeatures(run)).outcomes).toMatchObject([{ failure: undefined }]);
  expect(asked).toEqual(["GET /v2/SMALL Bearer from the shell"]);
});
