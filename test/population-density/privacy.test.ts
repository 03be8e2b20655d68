import { beforeAll, describe, expect, test } from "vitest";
import { type Ask, attack, type Scenario } from "../../tools/bench/privacy-attack.ts";
import { randomScenario, smallScenarios } from "../../tools/bench/privacy-scenarios.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { isWhole, runs } from "../support/sample.ts";

beforeAll(useTables);

/** The first of the small scenarios with a cell less: its worlds fit into the hours of one week. */
const sampleScenario: Scenario = {
  name: "four cells at three levels",
  threshold: 2,
  unknowns: Array.from({ length: 4 }, () => [0, 1, 2]),
  steps: [{ cells: { "0000": 0, "0001": 1, "0010": 2, "0100": 3 } }],
};

describe("nothing of few people can be computed from all that is answered over HTTP", () => {
  let token: string;
  beforeAll(async () => {
    token = await tokenWith({ scope: "population-density-data:read" });
  });
  const ask: Ask = async (body) => {
    const { status, body: answered } = await call("/populationdensitydata/retrieve", { token, body });
    if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(answered)}`);
    return answered;
  };

  const random = Array.from({ length: runs(6, 1) }, (_, seed) => randomScenario(100 + seed, runs(160, 60)));

  test.each([...(isWhole ? smallScenarios : [sampleScenario]), ...random])(
    "$name",
    async (scenario) => {
      const { worlds, answers, determined, excluded } = await attack(scenario, ask);
      console.log(`${scenario.name}: ${worlds} worlds tried, ${answers} different answers`);
      expect(determined.slice(0, 3)).toEqual([]);
      expect(excluded.slice(0, 3)).toEqual([]);
      expect(answers).toBeGreaterThan(1);
    },
    180_000,
  );
});
