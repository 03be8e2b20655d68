import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { exampleBoundary, hourFromNow } from "../support/areas.ts";
import { tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { boxIn, cellIn, freshTile, type Slot, storeTile } from "../support/densities.ts";
import { sharedService } from "../support/service.ts";
import { openSink } from "../support/sink.ts";

const path = "/populationdensitydata/retrieve";
beforeAll(useTables);

/** Two cells with data and one whose tile has none: a part of the area is not covered. */
async function partlyCovered() {
  const tile = freshTile();
  const slots = new Map<number, Slot>([
    [cellIn(3, 4), 1_234],
    [cellIn(3, 5), "low"],
  ]);
  await Promise.all(Array.from({ length: 7 }, (_, day) => storeTile(tile, `week#${day + 1}`, slots)));
  return boxIn(tile, [3, 4], [3.4, 6]);
}

interface Asked {
  readonly accept?: string;
  readonly encoding?: string;
  readonly boundary?: unknown;
  readonly changes?: Readonly<Record<string, unknown>>;
}

async function retrieve({ accept, encoding = "identity", boundary = exampleBoundary, changes = {} }: Asked) {
  const body = {
    area: { areaType: "POLYGON", boundary },
    startTime: hourFromNow(1),
    endTime: hourFromNow(3),
    ...changes,
  };
  const response = await fetch(`${sharedService.url}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${await tokenWith({ scope: "population-density-data:read" })}`,
      "accept-encoding": encoding,
      // Without it, `fetch` accepts everything.
      accept: accept ?? "*/*",
    },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const jsonOf = (text: string) => retrievePopulationDensity.responses[200].parse(JSON.parse(text));

describe("an answer", () => {
  test.each([
    ["*/*", "application/json"],
    ["application/*;q=0.8, text/*;q=0.2", "application/json"],
    ["application/geo+json", "application/geo+json"],
    ["text/csv;q=0.9, application/json;q=0.8", "text/csv; charset=utf-8; header=present"],
    ["application/x-ndjson", "application/x-ndjson"],
  ])("POST /retrieve with Accept: %s returns %s", async (accept, contentType) => {
    const { status, headers } = await retrieve({ accept });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe(contentType);
    expect(headers.get("vary")).toMatch(/^accept, accept-encoding\b/);
    expect(headers.get("x-area-status")).toBe("SUPPORTED_AREA");
    expect(headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
  });

  test("POST /retrieve returns the same numbers and status in every format", async () => {
    const boundary = await partlyCovered();
    const [json, geoJson, csv, ndjson] = await Promise.all(
      ["application/json", "application/geo+json", "text/csv", "application/x-ndjson"].map((accept) =>
        retrieve({ accept, boundary }),
      ),
    );
    for (const { headers } of [json, geoJson, csv, ndjson].flatMap((answer) => answer ?? [])) {
      expect(headers.get("x-area-status")).toBe("PART_OF_AREA_NOT_SUPPORTED");
    }
    const answer = jsonOf(json?.text ?? "");
    const cells = answer.timedPopulationDensityData[0]?.cellPopulationDensityData ?? [];
    expect(cells.map(({ pplDensity }) => pplDensity)).toContain(1_234);
    const { status, features } = z
      .object({
        status: z.string(),
        features: z.array(
          z.object({ id: z.string(), properties: z.object({ pplDensity: z.array(z.number().nullable()) }) }),
        ),
      })
      .parse(JSON.parse(geoJson?.text ?? ""));
    expect(status).toBe(answer.status);
    expect(features.map(({ id, properties }) => [id, properties.pplDensity])).toEqual(
      cells.map(({ geohash, pplDensity = null }) => [geohash, [pplDensity, pplDensity]]),
    );
    const slots = answer.timedPopulationDensityData.flatMap(({ cellPopulationDensityData, ...times }) =>
      cellPopulationDensityData.map((cell) => ({ ...cell, ...times })),
    );
    const rows: Record<string, string>[] = parse(csv?.text ?? "", { columns: true });
    expect(rows.map(({ geohash, startTime, pplDensity }) => [geohash, startTime, pplDensity])).toEqual(
      slots.map(({ geohash, startTime, pplDensity }) => [geohash, startTime, `${pplDensity ?? ""}`]),
    );
    const lines = (ndjson?.text ?? "").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(slots);
  });

  test.each(["application/geo+json", "text/csv", "application/x-ndjson"])(
    "POST /retrieve compresses %s with gzip to the same text",
    async (accept) => {
      const large = [
        { latitude: 45.75, longitude: 4.84 },
        { latitude: 45.75, longitude: 4.86 },
        { latitude: 45.76, longitude: 4.86 },
        { latitude: 45.76, longitude: 4.84 },
      ];
      const [plain, compressed] = await Promise.all([
        retrieve({ accept, boundary: large }),
        retrieve({ accept, boundary: large, encoding: "gzip" }),
      ]);
      expect(plain.text.length).toBeGreaterThan(8_192);
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(compressed.headers.get("content-encoding")).toBe("gzip");
      expect(compressed.headers.get("content-type")).toBe(plain.headers.get("content-type"));
      expect(compressed.text).toBe(plain.text);
    },
  );

  test("POST /retrieve returns AREA_NOT_SUPPORTED in every format for an area without data", async () => {
    const boundary = boxIn(freshTile(), [3, 4], [3.4, 6]);
    for (const [accept, text] of [
      ["text/csv", "geohash,startTime,endTime,dataType,pplDensity,minPplDensity,maxPplDensity\r\n"],
      ["application/x-ndjson", ""],
      [
        "application/geo+json",
        '{"type":"FeatureCollection","status":"AREA_NOT_SUPPORTED","intervals":[],"features":[]}',
      ],
    ] as const) {
      const answer = await retrieve({ accept, boundary });
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(answer.headers.get("x-area-status")).toBe("AREA_NOT_SUPPORTED");
    }
  });
});

describe("a request that accepts no format", () => {
  test("POST /retrieve returns 406 in JSON when no format is accepted, and names all formats", async () => {
    const { status, headers, text } = await retrieve({ accept: "application/xml, */*;q=0" });
    expect(status).toBe(406);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("vary")).toMatch(/^accept(?:,|$)/);
    const { message, ...fault } = JSON.parse(text);
    expect(fault).toEqual({ status: 406, code: "NOT_ACCEPTABLE" });
    for (const type of ["application/json", "application/geo+json", "text/csv", "application/x-ndjson"]) {
      expect(message).toContain(type);
    }
  });

  test("POST /retrieve returns 400 and 422 before 406", async () => {
    const accept = "application/xml";
    expect(await retrieve({ accept, changes: { precision: 13 } })).toMatchObject({ status: 400 });
    expect(await retrieve({ accept, changes: { precision: 12 } })).toMatchObject({ status: 422 });
  });

  test("POST /retrieve with a sink returns 406 unless Accept allows JSON", async () => {
    const sink = await openSink();
    try {
      const url = sink.urlOf();
      const changes = { sink: url };
      const refused = await retrieve({ accept: "text/csv", changes });
      expect(refused.status).toBe(406);
      expect(refused.text).toContain("application/json");
      const accepted = await retrieve({ accept: "text/csv, application/json;q=0.1", changes });
      expect(accepted.status).toBe(202);
      expect(accepted.headers.get("content-type")).toBe("application/json");
      await expect.poll(() => sink.received(url), { timeout: 30_000 }).toHaveLength(1);
      const [delivered] = sink.received(url);
      expect(delivered?.headers["content-type"]).toBe("application/json");
      expect(jsonOf(delivered?.body ?? "").status).toBe("SUPPORTED_AREA");
    } finally {
      await sink.close();
    }
  });
});
