import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { retrieveCapabilities } from "../../../functions/population-density/capabilities/contract.ts";
import { densityCaller } from "../../support/density-caller.ts";
import { authorizerContext, captureOutput, eventOf } from "../../support/pipeline.ts";
import { isInCi, isLong, isWhole, runs } from "../../support/sample.ts";
import { defaultSettings } from "../../support/settings.ts";
import { useOwnDensities } from "../../support/stored-days.ts";
import type { Scenario, Service } from "./attack.ts";
import { judgedWeeks, largeScenarios, randomScenario, smallScenarios } from "./attack-scenarios.ts";

/** The judged weeks with an unknown less: their worlds fit into the hours of a day. */
const sampleWeeks: Scenario = {
  ...judgedWeeks,
  name: "three judged weeks of three counts, one excluded",
  unknowns: [
    [0, 1, 2],
    [0, 1, 2],
    [0, 1],
  ],
  steps: [
    { cells: { "00": 0, "01": 1 }, weeksAgo: 2 },
    { cells: { "00": 2, "01": 1 }, weeksAgo: 1 },
    { cells: { "00": 0, "01": 2 } },
    { isExcluded: true, weeksAgo: 1 },
  ],
};

/** The first of the small scenarios with a cell and some counts less: its worlds fit into the hours of a day. */
const sampleScenario: Scenario = {
  name: "four cells at three levels",
  threshold: 2,
  unknowns: [
    [0, 1, 2],
    [0, 1],
    [0, 1],
    [0, 1],
  ],
  steps: [{ cells: { "000": 0, "001": 1, "010": 2, "100": 3 } }],
};

// Imports of any K are only allowed into a table that no other test uses.
useOwnDensities();
beforeAll(() => {
  const settings = {
    ...defaultSettings,
    CACHE_SECONDS: "0",
    RATE_LIMIT_PER_MINUTE: "1000000",
    DAILY_QUOTA: "100000000",
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
});
let output: ReturnType<typeof captureOutput>;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => output.stop());

const { retrieve } = densityCaller();

const invocation = { getRemainingTimeInMillis: () => 10_000 };

const service: Service = {
  retrieve: async (body) => {
    const { statusCode, body: answered } = await retrieve(body);
    expect(statusCode).toBe(200);
    return JSON.parse(answered.toString());
  },
  quality: async () => {
    const { handler } = await import("../../../functions/population-density/capabilities/capabilities.ts");
    // The token of a context expires after minutes.
    const authorizer = authorizerContext({ scope: "population-density-data:read" });
    const { statusCode, body } = await handler(eventOf({ authorizer }), invocation);
    expect(statusCode).toBe(200);
    return retrieveCapabilities.responses[200].parse(JSON.parse(body)).quality;
  },
};

const random = Array.from({ length: runs(6, 1, 16) }, (_, seed) =>
  randomScenario(100 + seed, runs(160, 60, 1_100)),
);
const chosen = [
  ...(isWhole ? [judgedWeeks, ...smallScenarios] : [sampleWeeks, sampleScenario]),
  ...(isLong ? largeScenarios : []),
];

test.runIf(isInCi).each([...chosen, ...random])(
  "POST /populationdensitydata/retrieve and GET /capabilities determine and exclude no suppressed count: $name",
  async (scenario) => {
    // It imports into the tables of this test.
    const { attack } = await import("./attack.ts");
    const { worlds, answers, determined, excluded, ...told } = await attack(scenario, service);
    console.log(`${scenario.name}: ${worlds} worlds tried, ${answers} different answers`);
    expect(determined.slice(0, 3)).toEqual([]);
    expect(excluded.slice(0, 3)).toEqual([]);
    expect(answers).toBeGreaterThan(1);
    expect(told.quality.join()).toContain(scenario.finding ?? "");
    expect(told.exchangedQuality).toEqual(told.quality);
  },
  runs(900_000, 180_000, 1_800_000),
);
