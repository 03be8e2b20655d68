import { readdirSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type ConfigurationName, configuration } from "../../infra/variables.ts";
import { causeOf } from "../../shared/aws/log.ts";
import { resourceName, setting, timeLimit } from "../../shared/environment.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const names = Object.keys(configuration) as ConfigurationName[];

/** The error that a call throws; undefined if it does not. */
function errorOf(read: () => unknown): Error | undefined {
  try {
    read();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return undefined;
}

const folder = new URL("../../shared/variables/", import.meta.url);

test.each(readdirSync(folder).filter((file) => file !== "format.ts"))(
  "shared/variables/%s has one variable, whose name is that of the file, and is listed if it has a default",
  async (file) => {
    const exported: Readonly<Record<string, unknown>> = await import(new URL(file, folder).href);
    const variables = Object.entries(exported).filter(([, value]) => typeof value === "object");
    const name = file.replace(".ts", "").replaceAll("-", "_").toUpperCase();
    expect(variables).toEqual([[name, expect.objectContaining({ name })]]);
    expect(Object.hasOwn(configuration, name)).toBe(Object.hasOwn(Object(exported[name]), "default"));
  },
);

test.each(names)("a function accepts the default of %s", (name) => {
  expect(
    errorOf(() => setting(configuration[name], { [name]: configuration[name].default })),
  ).toBeUndefined();
});

test.each<[ConfigurationName, readonly string[], string]>([
  ["TOKEN_ISSUER", [""], "not be empty"],
  ["TOKEN_LIFETIME_SECONDS", ["", "0", "86401", "1e3", "-1", " 5"], "be a whole number from 1 to 86400"],
  ["DENSITY_PENDING_LIMIT", ["", "101", "many", "1.5"], "be a whole number from 0 to 100"],
  ["RATE_LIMIT_PER_MINUTE", ["", "1000000001"], "be a whole number from 0 to 1000000000"],
  [
    "DENSITY_PRECISIONS",
    ["", "0", "13", "7-3", "3,", "3 4", "three"],
    "be whole numbers from 1 to 12 and ranges of them, separated by commas, such as 3-5,7",
  ],
  [
    "SINK_RETRY_SECONDS",
    ["1,", "28801", "-1", "28800,28800,28800", `1${",1".repeat(20)}`],
    "be empty or up to 20 whole numbers of seconds, separated by commas, each up to 28800 and together up to 64800",
  ],
  [
    "SINK_ALLOWED_NETWORKS",
    ["10.0.0.0/8", "10.0.0.0/8:443,", "localhost:80"],
    "be empty or networks with their ports as CIDR:port or CIDR:port-port, separated by commas, " +
      "such as 10.0.0.0/8:443,[fd12::]/16:8080-8090",
  ],
  ["LOG_LEVEL", ["", "info", "TRACE"], "be one of DEBUG, INFO, WARN, ERROR"],
])("a function reports what %s must be when it is malformed", (name, texts, must) => {
  const messages = texts.map(
    (text) => errorOf(() => setting(configuration[name], { [name]: text }))?.message,
  );
  expect(messages).toEqual(texts.map(() => `${name} must ${must}`));
});

test.each(names)("a function does not repeat the value of %s in its error", (name) => {
  const value = "zq-canary\u0000";
  const message = errorOf(() => setting(configuration[name], { [name]: value }))?.message;
  expect(message ?? "").not.toContain("canary");
});

describe("an entry of TRUSTED_ISSUERS", () => {
  const entry = {
    issuer: "https://op.example",
    jwksUri: "https://op.example/jwks",
    audience: "us",
    algorithms: ["ES256"],
  };
  const read = (...entries: object[]) =>
    setting(configuration.TRUSTED_ISSUERS, { TRUSTED_ISSUERS: JSON.stringify(entries) });

  const problemOf = (text: string) =>
    errorOf(() => setting(configuration.TRUSTED_ISSUERS, { TRUSTED_ISSUERS: text }))?.message.split(
      "({claim, equals}): ",
    )[1];
  const problemWith = (members: object) => problemOf(JSON.stringify([{ ...entry, ...members }]));

  test.each([
    {},
    { subscriptionClaim: "line" },
    { applicationsOnly: true },
    { applicationsOnly: false },
    { applicationWhen: { claim: "idtyp", equals: "app" } },
    { audience: ["us", "https://us.example"] },
    { audience: ["maps", "bank"], audienceClaim: "client_id" },
    { scopeClaim: "roles", scopePrefix: "api/", clientClaim: "cid" },
    { scopeClaim: "__proto__", clientClaim: "constructor" },
  ])("a function reads an entry of TRUSTED_ISSUERS with %j", (members) => {
    expect(read({ ...entry, ...members })).toEqual([{ ...entry, ...members }]);
  });

  test.each<[member: string, value: unknown]>([
    ["issuer", ""],
    ["issuer", "https://op.example x"],
    ["issuer", undefined],
    ["audience", ""],
    ["audience", []],
    ["audience", [""]],
    ["audience", null],
    ["audienceClaim", ""],
    ["algorithms", ["HS256"]],
    ["algorithms", ["none"]],
    ["algorithms", []],
    ["scopeClaim", ""],
    ["scopePrefix", ""],
    ["scopePrefix", "api /"],
    ["clientClaim", ""],
    ["subscriptionClaim", ""],
    ["applicationsOnly", "true"],
    ["applicationWhen", true],
  ])(
    "a function refuses an entry of TRUSTED_ISSUERS whose %s is %j, and names the member",
    (member, value) => {
      expect(problemWith({ [member]: value })).toMatch(
        new RegExp(`^${member}(?:\\.\\d)? of entry 1 is missing or`),
      );
    },
  );

  const app = { claim: "idtyp", equals: "app" };
  test.each<[members: object, problem: string]>([
    [{ applicationWhen: { claim: "idtyp" } }, "applicationWhen.equals of entry 1 is missing or malformed"],
    [
      { applicationWhen: { ...app, equals: true } },
      "applicationWhen.equals of entry 1 is missing or malformed",
    ],
    [{ applicationWhen: { ...app, claim: "" } }, "applicationWhen.claim of entry 1 is missing or malformed"],
    [
      { applicationWhen: { claim: "idtyp", equal: "app" } },
      "applicationWhen of entry 1 has an unknown member; the nearest name is equals",
    ],
    [{ applicationOnly: "line" }, "entry 1 has an unknown member; the nearest name is applicationsOnly"],
    [{ subscriptionclaim: "line" }, "entry 1 has an unknown member; the nearest name is subscriptionClaim"],
    [{ scope: "line" }, "entry 1 has an unknown member; the nearest name is scopeClaim"],
    [{ jwks_uri: "line" }, "entry 1 has an unknown member; the nearest name is jwksUri"],
    [{ client_id: "line" }, "entry 1 has an unknown member; the nearest name is clientClaim"],
    [
      { applicationsOnly: true, applicationWhen: app },
      "entry 1 must not have both applicationsOnly and applicationWhen",
    ],
    [
      { applicationsOnly: false, applicationWhen: app },
      "entry 1 must not have both applicationsOnly and applicationWhen",
    ],
    [{ clientClaim: "sub" }, "clientClaim of entry 1 must not be sub"],
    [{ jwksUri: "http://op.example/jwks" }, "jwksUri of entry 1 must be https"],
  ])("a function refuses an entry of TRUSTED_ISSUERS with %j, and says: %s", (members, problem) => {
    expect(problemWith(members)).toBe(problem);
  });

  test.each(["__proto__", "42"])(
    "a function refuses an entry of TRUSTED_ISSUERS with the member %s",
    (member) => {
      const text = JSON.stringify([entry]).replace(
        "{",
        `{${JSON.stringify(member)}:{"applicationsOnly":true},`,
      );
      expect(problemOf(text)).toMatch(/^entry 1 has an unknown member/);
    },
  );

  test.each([
    ["", "it is not JSON"],
    ["[", "it is not JSON"],
    ["{}", "the array is missing or malformed"],
    ["[5]", "entry 1 is missing or malformed"],
    [JSON.stringify([entry, { ...entry, audience: "others" }]), "the array has two entries for one issuer"],
  ])("a function reports of TRUSTED_ISSUERS %s that %s", (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test("a function repeats no member and no value of an entry of TRUSTED_ISSUERS in its error", () => {
    for (const members of [{ scopeCanary: "x" }, { scopeClaim: ["canary"] }, { audience: { canary: 1 } }]) {
      const message = errorOf(() => read({ ...entry, issuer: "canary", ...members }))?.message;
      expect(message).toMatch(/^TRUSTED_ISSUERS must be/);
      expect(message?.toLowerCase()).not.toContain("canary");
    }
  });
});

test.each<[string, string, string, boolean]>([
  ["on Lambda", "127.0.0.1:9001", "2026/11/22/[$LATEST]0123456789abcdef", false],
  ["on one machine", "", "local", true],
  ["on one machine whose shell is a function", "127.0.0.1:9001", "local", true],
])(
  "a function accepts keys over http on loopback only when the service runs locally: %s",
  (_, api, stream, isAllowed) => {
    vi.stubEnv("AWS_LAMBDA_RUNTIME_API", api === "" ? undefined : api);
    vi.stubEnv("AWS_LAMBDA_LOG_STREAM_NAME", stream);
    const issuer = { issuer: "https://op.example", audience: "us", algorithms: ["ES256"] };
    const issuers = JSON.stringify([{ ...issuer, jwksUri: "http://127.0.0.1:1234/keys" }]);

    expect(
      errorOf(() => setting(configuration.TRUSTED_ISSUERS, { TRUSTED_ISSUERS: issuers })) === undefined,
    ).toBe(isAllowed);
  },
);

test("a function reports what a missing variable must be", () => {
  expect(errorOf(() => setting(configuration.DENSITY_K, {}))?.message).toBe(
    "DENSITY_K must be a whole number from 1 to 1000000",
  );
  expect(errorOf(() => resourceName("TABLE_OF_NOBODY"))?.message).toBe("TABLE_OF_NOBODY must not be empty");
});

test("the log names the malformed variable and what it must be, without its value", () => {
  vi.stubEnv("DENSITY_PENDING_LIMIT", "zq-canary");
  const cause = causeOf(errorOf(() => setting(configuration.DENSITY_PENDING_LIMIT)));
  expect(cause).toMatch(
    /^Misconfigured: DENSITY_PENDING_LIMIT must be a whole number from 0 to 100\n {4}at /,
  );
  expect(cause).not.toContain("canary");
});

test("the log gives the class and stack of any other error without its message", () => {
  const cause = causeOf(new TypeError("zq-canary"));
  expect(cause).toMatch(/^TypeError\n {4}at /);
  expect(cause).not.toContain("canary");
});

test("a time limit is multiplied by DEADLINE_FACTOR", () => {
  vi.stubEnv("DEADLINE_FACTOR", "3");
  expect(timeLimit(5_000)).toBe(15_000);
});

test.each(["0", "101", "1.5", "long"])(
  "a time limit fails with what DEADLINE_FACTOR must be when it is %s",
  (text) => {
    vi.stubEnv("DEADLINE_FACTOR", text);
    expect(() => timeLimit(5_000)).toThrow("DEADLINE_FACTOR must be a whole number from 1 to 100");
  },
);
