import { beforeAll, describe, expect, test } from "vitest";
import { endpoints } from "../../functions/endpoints.ts";
import { updateItem } from "../../shared/aws/database.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { configuration } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";

const guarded = ([...endpoints] as Endpoint[]).filter(({ scope }) => scope !== null);
const requests = guarded.flatMap((endpoint) =>
  pathsOf(endpoint).map(
    (path) => [`${endpoint.method} ${path.replace("{name}", "QOS_E")}`, endpoint] as const,
  ),
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
  await updateItem("quotas", { caller: hashed(client) }, write, AbortSignal.timeout(5_000));
}

beforeAll(useTables);

describe.each(requests)("%s", (request, { scope }) => {
  const [method = "", path = ""] = request.split(" ");

  test.each([
    [
      "TOO_MANY_REQUESTS",
      { dayCount: 0, minuteCount: Number(configuration.RATE_LIMIT_PER_MINUTE.default) },
      60,
    ],
    ["QUOTA_EXCEEDED", { dayCount: Number(configuration.DAILY_QUOTA.default), minuteCount: 0 }, 86_400],
  ])("429 %s, before anything is said about the request", async (code, counts, mostSeconds) => {
    const client = crypto.randomUUID();
    await fill(client, counts);
    const token = await tokenWith({ scope, client_id: client });
    const headers = { "x-correlator": "quota-1" };

    const answer = await call(path, {
      method,
      token,
      headers,
      ...(method === "POST" ? { body: "not JSON" } : {}),
    });

    expect(answer).toMatchObject({ status: 429, body: { status: 429, code } });
    expect(answer.headers.get("x-correlator")).toBe("quota-1");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(mostSeconds);
  });
});
