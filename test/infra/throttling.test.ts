import { expect, test } from "vitest";
import { endpoints, websites } from "../../functions/areas.ts";
import { type Stage, stages } from "../../infra/stage.ts";
import { refuseMoreThanAnAccountHas, stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { pathsOf } from "../../shared/endpoint.ts";
import { settingsOf } from "../support/deployment-settings.ts";

const loginOf = (context: Readonly<Record<string, unknown>>) =>
  stageThrottling(settingsOf(context)).named["/v3/profile/authenticate/POST"];

const stageNames = Object.keys(stages) as Stage[];

const withTokens = { TOKEN_ENDPOINT: "on", TOKEN_ISSUER: "https://api.operator.example" };
test("the stage limits methods without a setting of their own to the lowest rate of the others", () => {
  const without = stageThrottling(settingsOf({}));
  const rates = Object.values(without.named).map(({ rate }) => rate);
  expect(without.others.rate).toBeLessThanOrEqual(Math.min(...rates));
});

test.each(stageNames)("the stage %s lets no more logins begin at once than have executions", (stage) => {
  const { burst = Number.NaN } = loginOf({ stage }) ?? {};
  // The login has two paths, each with a limit of its own.
  expect(2 * burst).toBeLessThanOrEqual(stages[stage].loginExecutions);
});

test("the stage limits what needs no token below what does, and each operation below retrieve", () => {
  const { named, others } = stageThrottling(settingsOf(withTokens));
  const rateOf = (method: string) => (named[method] ?? others).rate;
  const retrieve = rateOf("/populationdensitydata/retrieve/POST");
  for (const method of [
    "/v3/profile/authenticate/POST",
    "/populationdensitydata/operations/GET",
    "/populationdensitydata/webhook-secrets/POST",
    "/populationdensitydata/capabilities/GET",
    "/.well-known/jwks.json/GET",
    "/assets/{name}/GET",
    "/openapi.json/GET",
  ])
    expect(rateOf(method), method).toBeLessThan(retrieve / 2);
});

test("the stage derives the limit of logins from their reserved executions, at least 1", () => {
  const reserved = (count: number) => loginOf({ reservedConcurrency: `profile/authenticate:${count}` });
  expect(reserved(60)).toEqual({ rate: 120, burst: 30 });
  expect(reserved(1)).toEqual({ rate: 2, burst: 1 });
});

test("the sum of limits counts all methods, all other verbs of the API's paths, and the pages", () => {
  const paths = new Set(endpoints.flatMap((endpoint) => pathsOf(endpoint)));
  const webPaths = websites.flatMap((website) => website.paths);
  for (const stage of stageNames) {
    const settings = settingsOf({ stage });
    const named = Object.values(stageThrottling(settings).named);
    const others = 7 * paths.size + webPaths.length - named.length;
    expect(totalThrottling(settings)).toEqual({
      rate: named.reduce((sum, { rate }) => sum + rate, 0) + others * 7,
      burst: named.reduce((sum, { burst }) => sum + burst, 0) + others * 4,
    });
  }
});

test("tokenRate raises or lowers the rate of the token endpoint alone, and the sum of limits counts it", () => {
  const tokensOf = (context: object) =>
    stageThrottling(settingsOf({ ...withTokens, ...context })).named["/oauth2/token/POST"];
  expect(tokensOf({ tokenRate: "2000" })).toEqual({ rate: 2_000, burst: 1_000 });
  expect(tokensOf({ throttlingRate: "37" })).toEqual({ rate: 37, burst: 19 });
  const rateOf = (context: object) => totalThrottling(settingsOf({ ...withTokens, ...context })).rate;
  expect(rateOf({ tokenRate: "2000" }) - rateOf({})).toBe(2_000 - 430);
});

test.each(stageNames)(
  "the sum of limits of %s is within an account's quotas, token endpoint included",
  (stage) => {
    const total = totalThrottling(settingsOf({ stage, ...withTokens }));
    expect(total.rate).toBeLessThanOrEqual(10_000);
    expect(total.burst).toBeLessThanOrEqual(5_000);
  },
);

test("limits that no longer fit an account are refused with both sums, and none is lowered", () => {
  expect(() => refuseMoreThanAnAccountHas("prod")).not.toThrow();
  expect(() => refuseMoreThanAnAccountHas("prod", { rate: 450, burst: 225 })).toThrow(
    /^The methods of prod let 1\d{4} requests a second and 5\d{3} at once through, and an account has 10000 and 5000: /,
  );
});
