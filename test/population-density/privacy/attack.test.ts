import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { storeEnvironment } from "../../../tools/local/store-environment.ts";
import { type OwnService, startOwnService } from "../../support/own-service.ts";
import { isLong, isWhole, runs } from "../../support/sample.ts";
import type { Ask, Scenario } from "./attack.ts";
import { largeScenarios, randomScenario, smallScenarios } from "./attack-scenarios.ts";
import { askAt } from "./attacked-service.ts";

/** The first of the small scenarios with a cell less: its worlds fit into the hours of one week. */
const sampleScenario: Scenario = {
  name: "four cells at three levels",
  threshold: 2,
  unknowns: Array.from({ length: 4 }, () => [0, 1, 2]),
  steps: [{ cells: { "0000": 0, "0001": 1, "0010": 2, "0100": 3 } }],
};

describe("nothing of few people can be computed from all that is answered over HTTP", () => {
  let service: OwnService;
  let ask: Ask;
  let attack: typeof import("./attack.ts").attack;
  beforeAll(async () => {
    // Imports of any K are only allowed into a table that no other test uses.
    service = await startOwnService(
      { RATE_LIMIT_PER_MINUTE: "1000000", DAILY_QUOTA: "100000000" },
      { hasDemoData: true },
    );
    for (const [name, value] of Object.entries(storeEnvironment(service))) vi.stubEnv(name, value);
    // A client of the database that this file has is of another service.
    vi.resetModules();
    ({ attack } = await import("./attack.ts"));
    ask = await askAt(service.url);
  }, 120_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await service.close();
  });

  const random = Array.from({ length: runs(6, 1, 16) }, (_, seed) =>
    randomScenario(100 + seed, runs(160, 60, 1_100)),
  );
  const chosen = [...(isWhole ? smallScenarios : [sampleScenario]), ...(isLong ? largeScenarios : [])];

  test.each([...chosen, ...random])(
    "POST /populationdensitydata/retrieve determines and excludes no suppressed count: $name",
    async (scenario) => {
      const { worlds, answers, determined, excluded } = await attack(scenario, (body) => ask(body));
      console.log(`${scenario.name}: ${worlds} worlds tried, ${answers} different answers`);
      expect(determined.slice(0, 3)).toEqual([]);
      expect(excluded.slice(0, 3)).toEqual([]);
      expect(answers).toBeGreaterThan(1);
    },
    runs(180_000, 180_000, 1_800_000),
  );
});
