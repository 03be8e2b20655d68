import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { type Stage, stages, type Throttling } from "../../infra/stage.ts";
import { requestRateOf, stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { settingsOf } from "../support/deployment-settings.ts";

const loginOf = (context: Readonly<Record<string, unknown>>) =>
  stageThrottling(settingsOf(context)).named["/v3/profile/authenticate/POST"];

const stageNames = Object.keys(stages) as Stage[];

const methods = (endpoints as readonly Endpoint[]).flatMap((endpoint) =>
  pathsOf(endpoint).flatMap((path) => verbsOf(endpoint).map((verb) => `${path}/${verb}`)),
);

describe("throttling", () => {
  test("names every verb of every endpoint, never ANY: API Gateway refuses a setting for it", () => {
    for (const context of [{}, { corsOrigins: "https://app.example" }]) {
      const { named, others } = stageThrottling(settingsOf(context));
      expect(Object.keys(named)).toEqual(expect.arrayContaining(methods));
      expect(Object.keys(named).filter((method) => method.endsWith("/ANY"))).toEqual([]);
      expect(others).toEqual({ rate: 2, burst: 2 });
    }
  });

  test("has a burst of half the rate unless it is said", () => {
    expect(settingsOf({ throttlingRate: 2_001 }).throttling).toEqual({ rate: 2_001, burst: 1_001 });
    expect(settingsOf({ throttlingBurst: "7" }).throttling).toEqual({
      rate: requestRateOf("prod"),
      burst: 7,
    });
  });

  test("of logins follows the executions reserved for them, and never closes a path", () => {
    const reserved = (count: number) => loginOf({ reservedConcurrency: `profile/authenticate:${count}` });
    expect(reserved(60)).toEqual({ rate: 120, burst: 30 });
    expect(reserved(1)).toEqual({ rate: 2, burst: 1 });
  });

  test("of no method is above that of all others", () => {
    expect(stageThrottling(settingsOf({ throttlingRate: 5 })).named).toMatchObject({
      "/v3/profile/authenticate/POST": { rate: 5, burst: 3 },
      "/openapi.json/GET": { rate: 5, burst: 3 },
      "//GET": { rate: 5, burst: 3 },
      "/assets/{name}/GET": { rate: 5, burst: 3 },
    });
  });

  test("of the stage is the sum over its methods, and over each other verb of the paths of the API", () => {
    const paths = new Set((endpoints as readonly Endpoint[]).flatMap(pathsOf));
    for (const [stage, corsOrigins, ofOptions] of [
      ["dev", undefined, 0],
      ["prod", undefined, 0],
      ["prod", "https://app.example", paths.size],
    ] as const) {
      const settings = settingsOf({ stage, corsOrigins });
      const named = Object.values(stageThrottling(settings).named);
      const others = 7 * paths.size - methods.length - ofOptions;
      expect(totalThrottling(settings)).toEqual({
        rate: named.reduce((sum, { rate }) => sum + rate, 0) + others * 2,
        burst: named.reduce((sum, { burst }) => sum + burst, 0) + others * 2,
      });
    }
  });

  test.each([...stageNames])(
    "of %s is within what API Gateway allows a new account, however many methods there are",
    (stage) => {
      const rate = requestRateOf(stage);
      expect(settingsOf({ stage }).throttling).toEqual({ rate, burst: Math.ceil(rate / 2) });
      const isWithin = (context: Readonly<Record<string, unknown>>) => {
        const total = totalThrottling(settingsOf({ stage, corsOrigins: "https://app.example", ...context }));
        return total.rate <= 10_000 && total.burst <= 5_000;
      };
      expect(isWithin({})).toBe(true);
      // And no lower than it must be.
      expect(rate === stages[stage].maxRequestRate || !isWithin({ throttlingRate: rate + 1 })).toBe(true);
    },
  );

  test("is what docs/operating.md says", () => {
    const said = readFileSync("docs/operating.md", "utf8");
    const written = (how: (stage: Stage) => Throttling) =>
      stageNames
        .map(how)
        .map(
          ({ rate, burst }) => `${rate.toLocaleString("en")} a second, ${burst.toLocaleString("en")} at once`,
        )
        .join(" | ");
    const paths = new Set((endpoints as readonly Endpoint[]).flatMap(pathsOf));
    for (const fact of [
      `on each path of an operation | ${written((stage) => settingsOf({ stage }).throttling)} |`,
      `All of these together | ${written((stage) => totalThrottling(settingsOf({ stage })))} |`,
      `each of those that the ${paths.size} paths do not have`,
    ])
      expect(said.includes(fact), fact).toBe(true);
  });
});
