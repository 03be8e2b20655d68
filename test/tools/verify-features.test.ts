import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { Definition } from "../../tools/verify/features/definitions.ts";
import { Unexpected } from "../../tools/verify/features/ending.ts";
import { isInArea } from "../../tools/verify/features/geohash-in-area.ts";
import { readPlan } from "../../tools/verify/features/plan.ts";
import { openReceiver } from "../../tools/verify/features/receiver.ts";
import { answerSteps } from "../../tools/verify/features/steps/answer.ts";
import { cellSteps } from "../../tools/verify/features/steps/cells.ts";
import { deliverySteps } from "../../tools/verify/features/steps/deliveries.ts";
import { stepOf, verifyFeatures } from "../../tools/verify/features/steps/run-scenarios.ts";
import { Tokens } from "../../tools/verify/features/tokens.ts";
import { World } from "../../tools/verify/features/world.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const folder = new URL("features", import.meta.url).pathname;
const planFile = join(folder, "plan.json");
const definitions = "docs";
const temporary = useOwnFolder();
const plan = JSON.parse(await readFile(planFile, "utf8"));
/** Writes the plan of these tests with some members changed. */
const planWith = (changes: object) => temporary.write("plan.json", { ...plan, ...changes });

const tokenOf = (token: string) => ({ from: { token }, scopes: [] });
const authorized = 'Given the header "Authorization" is set to a valid access token';
const existing = 'Given the path param "name" is set by default to an existing QoS profile name';
const sent = 'When the request "getQosProfile" is sent';

/** A folder with one feature file, whose scenarios are about one resource. @param scenarios by tag. */
async function writeFeature(
  name: string,
  scenarios: Readonly<Record<string, readonly string[]>>,
  resource = "/qualityondemand/qos-profiles/{name}",
): Promise<string> {
  const features = join(temporary.path, name);
  const written = Object.entries(scenarios).map(([tag, steps]) =>
    [`@${tag}`, `Scenario: ${tag}`, `Given the resource "${resource}"`, ...steps].join("\n"),
  );
  await temporary.write(`${name}/${name}.feature`, [`Feature: ${name}`, ...written].join("\n\n"));
  return features;
}

/** The address of a server that is closed when the test ends. */
async function serverOf(answer: RequestListener): Promise<string> {
  const { url, close } = await listen(createServer(answer), 0);
  onTestFinished(close);
  return url;
}

test("ncs verify --features exits with 0 when a service answers as the features say", async () => {
  const args = ["--features", folder, "--plan", planFile, "--definitions", definitions];
  const { code, stdout, stderr } = await runNcs(["verify", sharedService.url, ...args]);
  expect(stdout.split("\n").filter((line) => !line.startsWith("ok "))).toEqual([
    "4 passed, 0 failed, 0 not run",
    "",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("demo/profiles_by_status example 2 ($.STATUS is read as $.status");
});

test("ncs verify fails every scenario of a server that answers 200 and {} to everything", async () => {
  const url = await serverOf((_, response) => response.end("{}"));
  const plan = await planWith({ callers: { anyone: tokenOf("valid") } });
  const { outcomes } = await verifyFeatures({ url, features: folder, definitions, plan });
  expect(outcomes.filter(({ failure }) => failure === undefined)).toEqual([]);
  const failures = Object.fromEntries(outcomes.map(({ name, failure }) => [name, failure]));
  expect(failures["demo/profiles_expired"]).toBe(
    "expected 401, answered 200 (the response status code is 401)",
  );
});

const cell = "/components/schemas/Cell";
const definition = new Definition({
  openapi: "3.0.3",
  servers: [{ url: "{apiRoot}/cells/v1" }],
  paths: {
    "/{name}": {
      post: {
        operationId: "readCells",
        responses: { 200: { content: { "application/json": { schema: { type: "array" } } } } },
      },
    },
  },
  components: {
    schemas: {
      Cell: {
        type: "object",
        required: ["geohash", "dataType"],
        discriminator: {
          propertyName: "dataType",
          mapping: { ESTIMATE: "#/components/schemas/Estimate" },
        },
      },
      Estimate: { allOf: [{ $ref: `#${cell}` }, { type: "object", required: ["people"] }] },
    },
  },
});

const [low, estimate] = [
  { geohash: "u05kq9", dataType: "LOW" },
  { geohash: "u05kq8", dataType: "ESTIMATE", people: 1 },
];
const startTime = "2026-11-20T08:00:00Z";

/** Every sentence about an answer or a delivery, with a body that it accepts, and one that it refuses. */
const sentences: [sentence: string, right: unknown, wrong?: unknown][] = [
  ["the response status code is 200", {}],
  ['the response header "x-correlator" has same value as the request header "x-correlator"', {}],
  ['the response header "Content-Type" is "application/json"', {}],
  [`the response body complies with the OAS schema at "${cell}"`, low],
  [`each item of the response array complies with the OAS schema at "${cell}"`, [low, estimate]],
  [`the response array has only one item which complies with the OAS schema at "${cell}"`, [low]],
  ['each item of the response array, if any, has property "$[*].dataType" equal to LOW', [low]],
  ["the response body is []", []],
  ['the response property "$.hours" is an empty array', { hours: [] }],
  ['the response includes property "$.hours"', { hours: [] }],
  ['the response property "$.message" contains a user-friendly text', { message: "Not in this way." }],
  ['the response property "$.status" is 404', { status: 404 }],
  ['the value of response property "$.recycled" is false', { recycled: false }],
  ['the response property "$.code" is "NONE" or "OTHER"', { code: "OTHER" }],
  ['the response property "$.name" value is equal to the request body property "$.name"', { name: "sent" }],
  ['the response property "$.name" value is equal to path param "name"', { name: "in the path" }],
  ['the response property "$.imei" exists and is equal to IMEI1', { imei: plan.equipment.DEVICE1.imei }],
  [
    'the response property "$.tac", if present, is equal to TAC1',
    { tac: plan.equipment.DEVICE1.tac },
    { tac: 1 },
  ],
  ['the response property "$.at" exists and is a valid date-time in the past', { at: startTime }],
  [
    'the response property "$.at" is equal to or later than request body property "$.startTime"',
    { at: startTime },
  ],
  [
    'the response property "$.at" is equal to or earlier than request body property "$.startTime"',
    { at: startTime },
  ],
  ['the response property "$[*].geohash" is a valid Geohash inside the request area', [low, estimate]],
  ['there is at least one item in response property "$[*].dataType" equal to "LOW"', [estimate, low]],
  [
    'the response property "$[*]" items with property "dataType" == "ESTIMATE" have property "people"',
    [low, estimate],
  ],
  ["there have been some problem processing the request asynchronously", {}],
  ['the request with the response body will be received at the address of the request property "$.sink"', {}],
  [
    'the request will have header "Authorization" set to "Bearer " + the value of the request property "$.accessToken"',
    {},
  ],
  ['the request will have property "$.id" equal to response property "$.id"', { id: "1" }],
  [`the request body complies with the OAS schema at "${cell}"`, estimate],
  [
    'the request body will have property "$.status" equal to "FAILED" and includes property "$.statusInfo"',
    { status: "FAILED", statusInfo: "" },
  ],
  ["the restricted QoS Profiles are returned in the response", [{ name: "VAULT" }]],
  ["no restricted QoS Profile is included in the response", [{ name: "SMALL" }]],
];

test.each(sentences)(
  "the sentence “%s” accepts %j and refuses the status 599",
  async (text, right, wrong = 12345) => {
    const delivery = { headers: { authorization: "Bearer for the sink" }, body: right, status: 204 };
    let arriving: typeof delivery | undefined = delivery;
    const receiver = { newSink: () => "", delivery: async () => arriving, close: async () => {} };
    const surroundings = {
      url: "",
      plan: await readPlan(planFile),
      definitions: [definition],
      tokens: new Tokens("", plan, folder),
      receiver,
      learned: new Map(),
    };
    const steps = [{ text: 'the request "readCells" is sent', isOutcome: false }];
    const world = new World(surroundings, { name: "", title: "", steps });
    world.useResource("/cells/v1/{name}");
    world.headers.set("x-correlator", "ours");
    world.pathParameters.name = "in the path";
    world.installed = { simCard: "SIMCARD1", device: "DEVICE1" };
    const { area } = plan.bodies.retrievePopulationDensity;
    world.body = { name: "sent", startTime, area, sink: "", accessToken: "for the sink" };
    const headers = new Headers({
      "x-correlator": "ours",
      "content-type": "application/json; charset=utf-8",
    });
    world.answer = { status: 200, headers, body: right };
    world.delivery = delivery;
    const { run } = stepOf(text);
    await run(world);
    world.answer = { status: 599, headers: new Headers(), body: wrong };
    arriving = undefined;
    world.delivery = undefined;
    await expect((async () => await run(world))()).rejects.toBeInstanceOf(Unexpected);
  },
);

test("the table of sentences has one for every Then step that the runner knows", () => {
  const unused = [...answerSteps, ...cellSteps, ...deliverySteps]
    .map(({ pattern }) => pattern)
    .filter((pattern) => !sentences.some(([text]) => pattern.test(text)));
  expect(unused).toEqual([]);
});

test("ncs verify reports scenarios that cannot be run with the reason, and exits with 1 when none could be", async () => {
  const otherCaller =
    'Given the header "Authorization" is set to a valid access token obtained for a different device';
  const features = await writeFeature("unknown", {
    moon: [sent, "Then the moon is full"],
    late: [otherCaller, sent, "Then the response status code is 200"],
  });
  const out = join(temporary.path, "report.xml");
  const args = ["--features", features, "--definitions", definitions, "--plan", planFile];
  const { code, stdout, stderr } = await runNcs(["verify", "http://127.0.0.1:2", ...args]);
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
  await runNcs(["verify", "http://127.0.0.1:2", ...args, "--report", "junit", "--out", out]);
  const xml = await readFile(out, "utf8");
  expect(xml).toContain('tests="2" failures="0" skipped="2"');
  expect(xml).toContain('name="moon"><skipped message="no step is known for: the moon is full"/>');
});

test("ncs verify --complete exits with 1 when a scenario could not be run although others passed", async () => {
  const features = await writeFeature("partly", {
    all: [authorized, existing, sent, "Then the response status code is 404"],
    moon: [sent, "Then the moon is full"],
  });
  const args = ["--features", features, "--definitions", definitions, "--plan", planFile];
  const { code } = await runNcs(["verify", sharedService.url, ...args]);
  const complete = await runNcs(["verify", sharedService.url, ...args, "--complete"]);
  expect(code).toBe(0);
  expect(complete).toMatchObject({
    code: 1,
    stderr: "the run is not complete: 1 passed, 0 failed, 1 not run\n",
  });
});

test.each([
  [["--features", folder], "--features and --plan need each other"],
  [["--plan", planFile], "--features and --plan need each other"],
  [["--definitions", definitions], "--definitions needs --features"],
  [["--features", folder, "--plan", planFile, "--logins", planFile], "the plan says who sends the requests"],
  [["--features", join(folder, ".."), "--plan", planFile], "has no .feature file"],
  [["--features", "/nowhere", "--plan", planFile], "/nowhere cannot be read: ENOENT, no such file or folder"],
  [["--features", folder, "--plan", planFile], "has no API definition"],
  [
    ["--features", folder, "--plan", planFile, "--definitions", definitions, "--out", "/nowhere/at/all"],
    "cannot be written: ENOENT",
  ],
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

test("a definition validates a value by the schema that its discriminator names", () => {
  const values = [low, estimate, { ...estimate, people: undefined }];
  expect(values.map((value) => definition.problemOf(value, cell))).toEqual([
    undefined,
    undefined,
    expect.stringContaining("people"),
  ]);
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

test("a sink answers 429 until it is told that the operation has failed", async () => {
  const receiver = await openReceiver({ port: 0, waitSeconds: 1 });
  onTestFinished(receiver.close);
  const sink = receiver.newSink(429);
  const deliver = async (body: object) => {
    const { status } = await fetch(sink, { method: "POST", body: JSON.stringify(body) });
    return status;
  };
  expect([await deliver({}), await deliver({ status: "OPERATION_NOT_COMPLETED" })]).toEqual([429, 204]);
  expect(await receiver.delivery(sink, "refused")).toMatchObject({ status: 429, body: {} });
  expect(await receiver.delivery(sink, "accepted")).toMatchObject({ status: 204 });
  expect(await receiver.delivery(receiver.newSink(), "accepted")).toBeUndefined();
});

test("a scenario is reported as not run when its threshold of requests is not reached in time", async () => {
  const url = await serverOf((_, response) => void setTimeout(() => response.end("{}"), 150));
  const features = await writeFeature("threshold", {
    threshold: [
      existing,
      "Given that the environment is configured with a threshold policy of N transactions per second",
      "Given the threshold of requests has been reached",
      sent,
      "Then the response status code is 429",
    ],
  });
  const runOf = async (seconds: number) => {
    const plan = await planWith({ threshold: { caller: "anyone", requests: 8, seconds } });
    return await verifyFeatures({ url, features, definitions, plan });
  };
  expect((await runOf(60)).outcomes).toMatchObject([
    { failure: expect.stringMatching(/^none of 8 requests in [\d.]+ s was answered with 429: the limit/) },
  ]);
  expect((await runOf(0.1)).skipped).toMatchObject([
    { reason: expect.stringMatching(/^8 requests took [\d.]+ s/) },
  ]);
});

const { imei } = plan.equipment.DEVICE1;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
let answers = 0;

test.each([
  ["the same for two devices", (token: string) => token, "another device has the pseudonym of DEVICE2"],
  ["another each time", (token: string) => `${token} ${answers++}`, "DEVICE1 had another pseudonym before"],
  ["the same for two clients", () => "0f", "another client gets the same pseudonym"],
  ["the IMEI's digest", () => sha256(imei), "anyone can compute the pseudonym"],
  ["a digest with the client", () => sha256(`anyone:${imei}`), "anyone can compute the pseudonym"],
])("a pseudonym that is %s is refused", async (_, pseudonymFor, failure) => {
  const identified = (device: string, pseudonym: string) => [
    `Given SIMCARD1 is installed within ${device}, which is connected to the network`,
    "And SIMCARD1 is identified by the access token",
    'When the HTTPS "POST" request is sent',
    `Then the response property "$.ppid" exists and is equal to ${pseudonym}`,
  ];
  const first = identified("DEVICE1", "PPID1");
  const scenarios = { first, again: first, other: identified("DEVICE2", "PPID2") };
  const features = await writeFeature(
    `pseudonyms-${answers++}`,
    scenarios,
    "/deviceidentifier/retrieve-ppid",
  );
  const [simCard] = plan.simCards;
  const withTwo = await planWith({
    callers: { anyone: tokenOf("one"), another: tokenOf("two") },
    devices: { otherClient: "another" },
    simCards: [simCard, { ...simCard, in: "DEVICE2" }],
  });
  const url = await serverOf(({ headers }, response) =>
    response.end(JSON.stringify({ ppid: pseudonymFor(`${headers.authorization}`) })),
  );
  const { outcomes } = await verifyFeatures({ url, features, definitions, plan: withTwo });
  const [failed] = outcomes.flatMap((outcome) => outcome.failure ?? []);
  expect(failed).toMatch(new RegExp(`^${failure} \\(the response property`));
});

test("the runner sends requests to the paths that the plan names, with a token from the environment", async () => {
  const asked: string[] = [];
  const url = await serverOf((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end("[]");
  });
  const features = await writeFeature("paths", {
    paths: [existing, authorized, sent, "Then the response status code is 200"],
  });
  const callers = { anyone: { from: { environment: "FEATURES_TOKEN" }, scopes: [] } };
  const paths = { "/qualityondemand/qos-profiles/{name}": "/v2/{name}" };
  const run = { url, features, definitions, plan: await planWith({ callers, paths }) };
  onTestFinished(() => void vi.unstubAllEnvs());
  const { skipped } = await verifyFeatures(run);
  expect(skipped).toMatchObject([{ reason: expect.stringMatching(/^set FEATURES_TOKEN to a token/) }]);
  vi.stubEnv("FEATURES_TOKEN", "from the shell");
  expect((await verifyFeatures(run)).outcomes).toMatchObject([{ failure: undefined }]);
  expect(asked).toEqual(["GET /v2/SMALL Bearer from the shell"]);
});
