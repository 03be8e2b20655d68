import { RootConstruct } from "constructs";
import { describe, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { settingsIn } from "../../infra/settings.ts";
import type { Throttling } from "../../infra/stage.ts";
import { stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";

function settingsOf(context: Readonly<Record<string, unknown>>) {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries({ alarmTopicArn: "none", ...context }))
    node.setContext(name, value);
  return settingsIn(node);
}

const loginOf = (context: Readonly<Record<string, unknown>>) =>
  stageThrottling(settingsOf(context)).named["/v3/profile/authenticate/POST"];

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
    expect(settingsOf({ throttlingBurst: "7" }).throttling).toEqual({ rate: 800, burst: 7 });
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

  test("of the stage is the sum over its methods", () => {
    // Those with the rate of all others, and eight of operations, two of capabilities, two of logins, four of public
    // documents, three of the console, and on the 23 paths of the API 135 verbs that they do not have. Where pages are
    // allowed, 23 of these are OPTIONS, which is let through more often.
    const guarded = (endpoints as readonly Endpoint[])
      .filter(({ scope }) => scope !== null)
      .flatMap(pathsOf)
      .filter((path) => !/\/(?:operations|capabilities)/.test(path));
    const sum = (each: Throttling, others: Throttling) => ({
      rate: guarded.length * each.rate + others.rate,
      burst: guarded.length * each.burst + others.burst,
    });
    const total = (stage: string) => totalThrottling(settingsOf({ stage }));
    const withPages = totalThrottling(settingsOf({ corsOrigins: "https://app.example" }));
    expect(withPages).toEqual(sum({ rate: 800, burst: 400 }, { rate: 1_549, burst: 924 }));
    // What API Gateway allows a new account.
    expect(withPages.rate).toBeLessThan(10_000);
    expect(withPages.burst).toBeLessThan(5_000);
    expect(total("prod")).toEqual(sum({ rate: 800, burst: 400 }, { rate: 1_250, burst: 740 }));
    expect(total("dev")).toEqual(sum({ rate: 100, burst: 50 }, { rate: 1_090, burst: 700 }));
  });
});
