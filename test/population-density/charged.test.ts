import { afterEach, describe, expect, test, vi } from "vitest";
import { getItem } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { quotas } from "../../shared/quota/table.ts";
import { hoursToCome, rectangle } from "../support/areas.ts";
import { densityCaller } from "../support/density-caller.ts";
import { defaultSettings } from "../support/settings.ts";
import { useHarness } from "../support/use-harness.ts";

/** A row of 69 tiles on one day, or of 70 where it begins within one: 6 units besides the 1 of every request. */
const synchronous = {
  area: {
    areaType: "POLYGON",
    boundary: rectangle(0.002, 3),
  },
  ...hoursToCome(),
  precision: 7,
};
const request = { ...synchronous, sink: "https://sink.example.com/densities" };

const { harness, output } = useHarness({
  ...defaultSettings,
  DENSITY_PENDING_LIMIT: "1",
  DAILY_QUOTA: "100",
});

afterEach(() => {
  vi.stubEnv("DAILY_QUOTA", "100");
});

/** What a caller is answered, and what of its daily quota is used then. */
function caller() {
  const { client, retrieve } = densityCaller();
  return async (body: unknown, headers = {}) => {
    const { statusCode, headers: answered } = await retrieve(body, { headers });
    const counted = await getItem(quotas, { caller: hashed(client) }, AbortSignal.timeout(60_000));
    return { statusCode, used: counted?.dayCount, remaining: answered["x-ratelimit-remaining"] };
  };
}

describe("a request with a sink", () => {
  test("POST /retrieve with a sink charges its work when accepted, and one unit when it returns 429", async () => {
    const ask = caller();
    expect(await ask(request)).toMatchObject({ statusCode: 202, used: 7 });
    expect(await ask(request)).toMatchObject({ statusCode: 429, used: 8 });
  });

  test("POST /retrieve charges its work once when it is repeated with its Idempotency-Key", async () => {
    const ask = caller();
    const headers = { "idempotency-key": "a key" };
    expect(await ask(request, headers)).toMatchObject({ statusCode: 202, used: 7 });
    expect(await ask(request, headers)).toMatchObject({ statusCode: 202, used: 8, remaining: "92" });
  });

  test("POST /retrieve charges one unit when its Idempotency-Key belongs to another request", async () => {
    const ask = caller();
    const headers = { "idempotency-key": "a key" };
    const accepted = await ask(request, headers);
    const refused = await ask({ ...request, sink: "https://other.example.com/" }, headers);
    expect(accepted).toMatchObject({ statusCode: 202, used: 7 });
    expect(refused).toMatchObject({ statusCode: 400, used: 8 });
    expect([accepted.remaining, refused.remaining]).toEqual(["93", "92"]);
  });

  test("POST /retrieve still returns 429 when its charge cannot be refunded", async () => {
    const ask = caller();
    await ask(request);
    harness().tables.inject(({ parameters }) =>
      String(parameters.UpdateExpression).includes("dayCount - :units") ? "refuse" : "pass",
    );
    expect(await ask(request)).toMatchObject({ statusCode: 429 });
    harness().tables.inject();
    expect(output().text()).toContain('"NCS-005"');
    expect(await ask({ ...request, sink: "http://not.https.example.com" })).toMatchObject({ used: 15 });
  });
});

describe("a request of a caller whose quota is used up", () => {
  const tilesWereRead = () => harness().tables.calls.some(({ operation }) => operation === "BatchGetItem");

  test("POST /retrieve returns 429 without reading a tile when its work exceeds the rest of the quota", async () => {
    vi.stubEnv("DAILY_QUOTA", "10");
    const ask = caller();
    harness().tables.calls.length = 0;
    expect(await ask(synchronous)).toMatchObject({ statusCode: 200, remaining: "3" });
    expect(tilesWereRead()).toBe(true);

    harness().tables.calls.length = 0;
    expect(await ask(synchronous)).toMatchObject({ statusCode: 429, remaining: "2" });
    expect(tilesWereRead()).toBe(false);
  });
});
