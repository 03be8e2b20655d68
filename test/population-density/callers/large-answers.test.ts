import { describe, expect, test, vi } from "vitest";
import {
  beginStream,
  endStreams,
  newStream,
} from "../../../functions/population-density/callers/stream-store.ts";
import { densityCallers, maxStreams } from "../../../functions/population-density/callers/tables.ts";
import { getItem } from "../../../shared/aws/database.ts";
import { hashed } from "../../../shared/hash.ts";
import { streamingSeconds } from "../../../shared/http/deadline.ts";
import { quotas } from "../../../shared/quota/table.ts";
import { hoursToCome, rectangle } from "../../support/areas.ts";
import { densityCaller, type How } from "../../support/density-caller.ts";
import { sampleOf } from "../../support/sample.ts";
import { defaultSettings } from "../../support/settings.ts";
import { useHarness } from "../../support/use-harness.ts";

/** Some hundred cells, or those of a square of another size, for some hours. */
const requestFor = (hours: number, degrees = 0.015) => ({
  area: {
    areaType: "POLYGON",
    boundary: rectangle(degrees, degrees),
  },
  ...hoursToCome(hours),
  precision: 7,
});
const [small, large] = [requestFor(1), requestFor(24)];

const { harness, output } = useHarness({ ...defaultSettings, CACHE_SECONDS: "0" });

const soonEnough = () => AbortSignal.timeout(60_000);

const ask = (client: string, body: unknown, how?: How) => densityCaller(client).retrieve(body, how);

const itemOf = (client: string) =>
  getItem(densityCallers, { caller: `${hashed(client)}/streams` }, soonEnough());

const streamsOf = async (client: string) => (await itemOf(client))?.streams ?? new Set();

/** How often large answers of callers have been ended at the table so far. */
const endsOf = () =>
  harness().tables.calls.filter(
    ({ operation, parameters }) =>
      operation === "UpdateItem" && JSON.stringify(parameters).includes("DELETE streams"),
  ).length;

/** As many streams as a caller may have, begun at a time. */
async function fill(client: string, now = new Date()): Promise<string> {
  const streams = Array.from({ length: maxStreams }, () => newStream(now));
  const begun = await Promise.all(streams.map((stream) => beginStream(client, stream, now, soonEnough())));
  expect(begun).not.toContain(false);
  return String(streams[0]);
}

describe("large answers of one caller", () => {
  test("POST /retrieve returns 429 and charges one unit when a caller's limit of large answers is being sent", async () => {
    const client = crypto.randomUUID();
    const stream = await fill(client);
    const refused = await ask(client, large);
    expect(refused).toMatchObject({ statusCode: 429, headers: { "retry-after": "1" } });
    expect(JSON.parse(refused.body.toString())).toMatchObject({ code: "TOO_MANY_REQUESTS" });
    const counted = await getItem(quotas, { caller: hashed(client) }, soonEnough());
    expect(counted).toMatchObject({ dayCount: 1 });

    expect(await ask(client, small)).toMatchObject({ statusCode: 200 });
    expect(await ask(crypto.randomUUID(), large)).toMatchObject({ statusCode: 200 });
    await endStreams(client, [stream], soonEnough());
    expect(await ask(client, large)).toMatchObject({ statusCode: 200 });
  });

  test("a large answer counts against its caller's limit while it is read, and no longer", async () => {
    const client = crypto.randomUUID();
    const before = endsOf();
    const seen: number[] = [];
    const read = async () => void seen.push((await streamsOf(client)).size);
    const answered = await ask(client, large, { read, flush: read });
    expect(answered).toMatchObject({ statusCode: 200, fault: undefined });
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set([1]));
    expect(await streamsOf(client)).toEqual(new Set());
    expect(endsOf() - before).toBe(1);
  });

  const formats = ["application/json", "application/geo+json", "text/csv", "application/x-ndjson"];
  test.each(sampleOf(formats, 2))("an answer counts as large from some 200 KB on, as %s", async (accept) => {
    const sizes: Record<"counted" | "uncounted", number[]> = { counted: [], uncounted: [] };
    for (const [hours, widths] of [
      [1, [0.02, 0.024, 0.028, 0.032, 0.036, 0.04, 0.044, 0.048, 0.052, 0.056, 0.06, 0.064]],
      [24, [0.006, 0.008, 0.01, 0.012, 0.014, 0.016, 0.018]],
    ] as const) {
      for (const degrees of widths) {
        const client = crypto.randomUUID();
        const { statusCode, headers, body } = await ask(client, requestFor(hours, degrees), {
          headers: { accept },
        });
        expect([statusCode, headers["x-area-status"]]).toEqual([200, "SUPPORTED_AREA"]);
        // What remains of a caller is the item; its set is empty.
        const isCounted = (await itemOf(client)) !== undefined;
        sizes[isCounted ? "counted" : "uncounted"].push(body.length);
      }
    }
    // A suppressed cell has half as many bytes as was estimated; here, at any hour, a fifth of the cells at most are.
    expect(Math.min(...sizes.counted)).toBeGreaterThan(165_000);
    expect(Math.max(...sizes.uncounted)).toBeGreaterThan(150_000);
    expect(Math.max(...sizes.uncounted)).toBeLessThan(215_000);
  });

  test("a large answer of a broken execution no longer counts against its caller's limit", async () => {
    const client = crypto.randomUUID();
    await fill(client, new Date(Date.now() - (streamingSeconds + 2) * 1_000));
    expect(await ask(client, large)).toMatchObject({ statusCode: 200 });
    expect(await streamsOf(client)).toEqual(new Set());
  });

  test("a large answer that fails before its first byte does not count against its caller's limit", async () => {
    const client = crypto.randomUUID();
    const before = endsOf();
    harness().tables.inject(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));
    expect(await ask(client, large)).toMatchObject({ statusCode: 503 });
    harness().tables.inject();
    expect(await streamsOf(client)).toEqual(new Set());
    expect(endsOf() - before).toBe(1);
  });

  test("a large answer does not count against its caller's limit when the write that began it lost its response", async () => {
    const client = crypto.randomUUID();
    harness().tables.inject(({ operation, parameters }) =>
      operation === "UpdateItem" && JSON.stringify(parameters).includes("ADD streams") ? "lose" : "pass",
    );
    expect(await ask(client, large)).toMatchObject({ statusCode: 503 });
    harness().tables.inject();
    expect(await streamsOf(client)).toEqual(new Set());
  });

  test.each(["identity", "gzip"])(
    "a large answer that is cut does not count against its caller's limit: %s",
    async (encoding) => {
      const client = crypto.randomUUID();
      const before = endsOf();
      let chunks = 0;
      const seen: number[] = [];
      const read = async () => {
        if (chunks++ === 0) seen.push((await streamsOf(client)).size);
        else await new Promise(() => {});
      };
      const headers = { "accept-encoding": encoding };
      // Plenty for the request, which asks first; then little for its body.
      const getRemainingTimeInMillis = vi.fn(() => 3_000).mockReturnValueOnce(27_000);
      const cut = await ask(client, large, { headers, read, getRemainingTimeInMillis });
      expect(cut.fault).toMatchObject({ name: "CallerTooSlow" });
      expect(seen).toEqual([1]);
      expect(await streamsOf(client)).toEqual(new Set());
      expect(endsOf() - before).toBe(1);
    },
  );

  test("a large answer is sent whole when its end cannot be recorded, and that is logged", async () => {
    const client = crypto.randomUUID();
    harness().tables.inject(({ operation, parameters }) =>
      operation === "UpdateItem" && JSON.stringify(parameters).includes("DELETE streams") ? "refuse" : "pass",
    );
    expect(await ask(client, large)).toMatchObject({ statusCode: 200, fault: undefined });
    harness().tables.inject();
    expect(output().text()).toContain('"NCS-005"');
    expect((await streamsOf(client)).size).toBe(1);
  });
});
