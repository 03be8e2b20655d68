import { beforeAll, describe, expect, test } from "vitest";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { exampleBoundary, hourFromNow } from "../support/areas.ts";
import { tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { sharedService } from "../support/service.ts";
import { openSink } from "../support/sink.ts";

const path = "/populationdensitydata/retrieve";
beforeAll(useTables);

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
    expect(headers.get("x-density-basis")).toBe("TYPICAL;hours=2");
    expect(headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
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
