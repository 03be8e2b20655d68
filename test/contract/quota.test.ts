import { beforeAll, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { getQosProfile } from "../../functions/qos-profiles/contract.ts";
import { updateItem } from "../../shared/aws/database.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { configuration } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import { quotas } from "../../shared/quota/table.ts";
import { type Answer, call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { everyScope } from "../support/scopes.ts";

const guarded = ([...endpoints] as Endpoint[]).filter(({ scope }) => scope !== null);
const requests = guarded.flatMap((endpoint) =>
  pathsOf(endpoint).map((path) => [endpoint.method, path.replace("{name}", "QOS_E")] as const),
);

/** Lets a caller have made so many requests today and in this minute; the next minute too, should it begin. */
async function fill(client: string, counts: { dayCount: number; minuteCount: number }): Promise<void> {
  const now = Date.now();
  const write = {
    update: "SET #day = :day, dayCount = :dayCount, #minute = :minute, minuteCount = :minuteCount",
    condition: "attribute_not_exists(caller)",
    names: { "#day": "day", "#minute": "minute" },
    values: {
      ":day": Math.floor((now + 60_000) / 86_400_000),
      ":dayCount": counts.dayCount,
      ":minute": Math.floor(now / 60_000) + 1,
      ":minuteCount": counts.minuteCount,
    },
  };
  await updateItem(quotas, { caller: hashed(client) }, write, AbortSignal.timeout(60_000));
}

beforeAll(useTables);

const limits = [
  {
    code: "TOO_MANY_REQUESTS",
    counts: { dayCount: 0, minuteCount: Number(configuration.RATE_LIMIT_PER_MINUTE.default) },
    maxSeconds: 60,
  },
  {
    code: "QUOTA_EXCEEDED",
    counts: { dayCount: Number(configuration.DAILY_QUOTA.default), minuteCount: 0 },
    maxSeconds: 86_400,
  },
];

test.each(requests.flatMap((request) => limits.map((limit) => [...request, limit.code, limit] as const)))(
  "%s %s answers 429 %s to a caller over its limit",
  async (method, path, code, { counts, maxSeconds }) => {
    const client = crypto.randomUUID();
    await fill(client, counts);
    const token = await tokenWith({ scope: everyScope.join(" "), client_id: client });
    const headers = { "x-correlator": "quota-1" };
    const request = { method, token, headers, ...(method === "POST" ? { body: "not JSON" } : {}) };

    const answer = await call(path, request);

    expect(answer).toMatchObject({ status: 429, body: { status: 429, code } });
    expect(answer.headers.get("x-correlator")).toBe("quota-1");
    const seconds = Number(answer.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(maxSeconds);
    expect(limitOf(answer)).toEqual({
      limit: Math.max(counts.dayCount, counts.minuteCount),
      remaining: 0,
      reset: seconds,
    });
  },
);

const { method, path, scope } = getQosProfile;
const oneProfile = path.replace("{name}", "QOS_E");

/** What an answer says of the caller's limits. */
function limitOf({ headers }: Answer) {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => {
    const value = headers.get(`x-ratelimit-${name}`);
    expect(value).toMatch(/^\d+$/);
    return Number(value);
  });
  return { limit, remaining, reset };
}

test("exactly one of forty concurrent requests is answered when one is left", async () => {
  const client = crypto.randomUUID();
  const limit = Number(configuration.RATE_LIMIT_PER_MINUTE.default);
  await fill(client, { dayCount: 0, minuteCount: limit - 1 });
  const token = await tokenWith({ scope, client_id: client });

  const answers = await Promise.all(Array.from({ length: 40 }, () => call(oneProfile, { method, token })));

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(39);
  for (const answer of answers) expect(limitOf(answer)).toMatchObject({ limit, remaining: 0 });
});

test("an answer has what is left of the nearer limit and when its window ends", async () => {
  const client = crypto.randomUUID();
  const limit = Number(configuration.DAILY_QUOTA.default);
  await fill(client, { dayCount: limit - 9, minuteCount: 0 });
  const token = await tokenWith({ scope, client_id: client });

  const [first, second] = [
    await call(oneProfile, { method, token }),
    await call(oneProfile, { method, token }),
  ].map(limitOf);

  expect(first).toMatchObject({ limit, remaining: 8 });
  expect(second).toMatchObject({ limit, remaining: 7 });
  expect(second?.reset).toBeGreaterThan(0);
  expect(second?.reset).toBeLessThanOrEqual(86_400);
});
