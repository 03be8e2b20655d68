import { afterEach, describe, expect, test, vi } from "vitest";
import { causeOf } from "../../shared/aws/log.ts";
import {
  type ConfigurationName,
  configuration,
  resourceName,
  setting,
  timeLimit,
} from "../../shared/environment.ts";

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

describe("a variable", () => {
  test.each(names)("setting accepts the default of %s", (name) => {
    expect(errorOf(() => setting(name, { [name]: configuration[name].default }))).toBeUndefined();
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
    [
      "TRUSTED_ISSUERS",
      ["", "[", "{}", '[{"issuer":"https://op.example"}]'],
      "be a JSON array with one object " +
        "{issuer, jwksUri, audience, algorithms, subscriptionClaim?, applicationsOnly?} " +
        "for each issuer and no other member, its jwksUri https, its applicationsOnly true or false, " +
        "its algorithms a list of " +
        "ES256, ES384, ES512, EdDSA, Ed25519, PS256, PS384, PS512, RS256, RS384, RS512",
    ],
  ])("setting reports what %s must be when it is malformed", (name, texts, must) => {
    const messages = texts.map((text) => errorOf(() => setting(name, { [name]: text }))?.message);
    expect(messages).toEqual(texts.map(() => `${name} must ${must}`));
  });

  test.each(names)("setting does not repeat the value of %s in its error", (name) => {
    const value = "zq-canary\u0000";
    const message = errorOf(() => setting(name, { [name]: value }))?.message;
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
      setting("TRUSTED_ISSUERS", { TRUSTED_ISSUERS: JSON.stringify(entries) });

    test.each([{}, { subscriptionClaim: "line" }, { applicationsOnly: true }, { applicationsOnly: false }])(
      "is read with %j",
      (members) => {
        expect(read({ ...entry, ...members })).toEqual([{ ...entry, ...members }]);
      },
    );

    test.each([
      { applicationsOnly: "true" },
      { applicationsOnly: 1 },
      { applicationsOnly: null },
      { applicationOnly: true },
      { ApplicationsOnly: true },
      { subscriptionclaim: "line" },
      { subscriptionClaim: "" },
      { subscriptionClaim: null },
      { subscriptionClaim: ["line"] },
      { audience: ["us"] },
      { algorithms: ["HS256"] },
      { algorithms: [] },
    ])("is refused with %j", (members) => {
      expect(errorOf(() => read({ ...entry, ...members }))?.message).toContain("TRUSTED_ISSUERS must be");
    });

    test("is refused when there are two for one issuer", () => {
      expect(errorOf(() => read(entry, { ...entry, audience: "others" }))).toBeDefined();
    });
  });

  test.each<[string, string, string, boolean]>([
    ["on Lambda", "127.0.0.1:9001", "2026/11/22/[$LATEST]0123456789abcdef", false],
    ["on one machine", "", "local", true],
    ["on one machine whose shell is a function", "127.0.0.1:9001", "local", true],
  ])(
    "setting accepts keys over http on loopback only when the service runs locally: %s",
    (_, api, stream, isAllowed) => {
      vi.stubEnv("AWS_LAMBDA_RUNTIME_API", api === "" ? undefined : api);
      vi.stubEnv("AWS_LAMBDA_LOG_STREAM_NAME", stream);
      const issuer = { issuer: "https://op.example", audience: "us", algorithms: ["ES256"] };
      const issuers = JSON.stringify([{ ...issuer, jwksUri: "http://127.0.0.1:1234/keys" }]);

      expect(errorOf(() => setting("TRUSTED_ISSUERS", { TRUSTED_ISSUERS: issuers })) === undefined).toBe(
        isAllowed,
      );
    },
  );

  test("setting accepts the examples that its errors give", () => {
    expect(setting("DENSITY_PRECISIONS", { DENSITY_PRECISIONS: "3-5,7" })).toEqual([3, 4, 5, 7]);
    const networks = "10.0.0.0/8:443,[fd12::]/16:8080-8090";
    expect(setting("SINK_ALLOWED_NETWORKS", { SINK_ALLOWED_NETWORKS: networks })).toHaveLength(2);
  });

  test("setting and resourceName report what a missing variable must be", () => {
    expect(errorOf(() => setting("DENSITY_K", {}))?.message).toBe(
      "DENSITY_K must be a whole number from 1 to 1000000",
    );
    expect(errorOf(() => resourceName("TABLE_OF_NOBODY"))?.message).toBe("TABLE_OF_NOBODY must not be empty");
  });
});

describe("the log of a function", () => {
  test("causeOf names the malformed variable and what it must be, without its value", () => {
    vi.stubEnv("DENSITY_PENDING_LIMIT", "zq-canary");
    const cause = causeOf(errorOf(() => setting("DENSITY_PENDING_LIMIT")));
    expect(cause).toMatch(
      /^Misconfigured: DENSITY_PENDING_LIMIT must be a whole number from 0 to 100\n {4}at /,
    );
    expect(cause).not.toContain("canary");
  });

  test("causeOf gives the class and stack of any other error without its message", () => {
    const cause = causeOf(new TypeError("zq-canary"));
    expect(cause).toMatch(/^TypeError\n {4}at /);
    expect(cause).not.toContain("canary");
  });
});

describe("DEADLINE_FACTOR", () => {
  test("time limits are as specified when DEADLINE_FACTOR is not set", () => {
    vi.stubEnv("DEADLINE_FACTOR", undefined);
    expect(timeLimit(5_000)).toBe(5_000);
  });

  test("DEADLINE_FACTOR multiplies every time limit", () => {
    vi.stubEnv("DEADLINE_FACTOR", "3");
    expect(timeLimit(5_000)).toBe(15_000);
  });

  test.each(["0", "101", "1.5", "long"])("DEADLINE_FACTOR %s is refused with what it must be", (text) => {
    vi.stubEnv("DEADLINE_FACTOR", text);
    expect(() => timeLimit(5_000)).toThrow("DEADLINE_FACTOR must be a whole number from 1 to 100");
  });
});
