import { expect, test, vi } from "vitest";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { qosProfiles } from "../../functions/qos-profiles/tables.ts";
import { type Table, tableVariable } from "../../shared/table.ts";
import { hoursToCome } from "../support/areas.ts";
import { boxIn, cellIn, freshTile, precision, storeTile } from "../support/densities.ts";
import { authorizerContext, eventOf, type Sent } from "../support/pipeline.ts";
import { defaultSettings } from "../support/settings.ts";
import { callStreamed } from "../support/streamed.ts";
import { useHarness } from "../support/use-harness.ts";

const period = hoursToCome();

const { harness } = useHarness(defaultSettings);

/** The status and body of an answer, and how a table was read for it. */
async function ask(
  handler: (event: unknown) => Promise<{ statusCode: number; body: string | Buffer }>,
  sent: Sent,
  table: Table,
) {
  harness().tables.calls.length = 0;
  const { statusCode, body } = await handler(eventOf(sent));
  const name = process.env[tableVariable(table)];
  const reads = harness()
    .tables.calls.map(({ parameters }) => JSON.stringify(parameters))
    .filter((parameters) => parameters.includes(JSON.stringify(name)));
  return { statusCode, body: String(body), reads };
}

test("POST /retrieve reads densities once, eventually consistent, and then answers from memory, even where none are stored", async () => {
  const { handler } = await import("../../functions/population-density/retrieve.ts");
  const [stored, empty] = [freshTile(), freshTile()];
  // Of every weekday: in summer, the last hour of a day in UTC is the next day's in the zone of the data.
  const storePeople = async (people: number) => {
    for (let weekday = 1; weekday <= 7; weekday++)
      await storeTile(stored, `week#${weekday}`, new Map([[cellIn(3, 3), people]]));
  };
  await storePeople(700);
  const retrieve = (tile: string) => {
    const area = { areaType: "POLYGON", boundary: boxIn(tile, [3, 3], [3.2, 3.2]) };
    const authorizer = authorizerContext({ scope: "population-density-data:read" });
    const body = JSON.stringify({ area, ...period, precision });
    return ask((event) => callStreamed(handler, event), { body, authorizer }, densities);
  };

  const first = await retrieve(stored);
  expect(first.statusCode).toBe(200);
  expect(first.body).toContain('"pplDensity":700');
  // The data set, which has the calendar, and the tile.
  expect(first.reads).toHaveLength(2);
  for (const read of first.reads) expect(read).toContain('"ConsistentRead":false');
  await storePeople(800);
  expect(await retrieve(stored)).toEqual({ ...first, reads: [] });

  expect((await retrieve(empty)).reads).toHaveLength(1);
  expect((await retrieve(empty)).reads).toEqual([]);

  vi.stubEnv("CACHE_SECONDS", "0");
  const current = await retrieve(stored);
  vi.stubEnv("CACHE_SECONDS", defaultSettings.CACHE_SECONDS);
  expect(current.body).toContain('"pplDensity":800');
});

test("GET /qos-profiles/{name} reads each requested name once, even one that does not exist", async () => {
  const { handler } = await import("../../functions/qos-profiles/get-by-name.ts");
  const plenty = { getRemainingTimeInMillis: () => 10_000 };
  for (const name of ["QOS_E", "NOBODY"]) {
    const read = () =>
      ask(
        (event) => handler(event, plenty),
        { pathParameters: { name }, authorizer: authorizerContext() },
        qosProfiles,
      );
    const first = await read();
    expect(first.reads).toEqual([expect.stringContaining('"ConsistentRead":false')]);
    expect(await read()).toEqual({ ...first, reads: [] });
  }
});
