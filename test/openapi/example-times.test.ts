import { expect, test } from "vitest";
import document from "../../docs/openapi.json" with { type: "json" };
import { withPointsAround, withTimesAbout } from "../../functions/openapi/example-times.ts";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { parseDensityRequest } from "../../functions/population-density/query/parse.ts";

const moments = [
  "2026-11-22T00:00:00Z",
  "2026-11-22T23:59:59Z",
  "2027-02-28T12:00:00Z",
  "2028-02-29T23:59:59.999Z",
  "2026-11-01T09:30:00Z",
];

test.each(moments)("the example density request that is read at %s is accepted", (time) => {
  const now = new Date(time);
  const { examples } = withTimesAbout(now, document).components;

  const request = retrievePopulationDensity.body.parse(examples["retrievePopulationDensity.request"].value);

  expect(parseDensityRequest(request, now)).not.toHaveProperty("code");
  expect(Date.parse(request.startTime)).toBeGreaterThan(now.getTime());
});

test.each(moments)(
  "the example densities that are read at %s have the hours of the example request",
  (time) => {
    const { examples } = withTimesAbout(new Date(time), document).components;

    const { startTime } = examples["retrievePopulationDensity.request"].value;
    const [first] = examples["retrievePopulationDensity.200"].value.timedPopulationDensityData;

    expect(first?.startTime.slice(0, 13)).toBe(startTime.slice(0, 13));
  },
);

test("an example that is moved to now changes nothing but the dates of times", () => {
  const part = {
    at: "2026-11-22T10:00:00.200Z",
    day: "2026-11-22",
    text: "since 2026-11-22T10:00:00Z",
    none: [null, 1],
  };
  expect(withTimesAbout(new Date("2026-12-24T01:00:00Z"), part)).toEqual({
    ...part,
    at: "2026-12-24T10:00:00.200Z",
  });
});

test("the example request at a place by the antimeridian asks for an area of the same form", () => {
  const areaIn = ({ components }: typeof document) =>
    components.examples["retrievePopulationDensity.request"].value.area.boundary;
  const before = areaIn(document);

  const moved = areaIn(withPointsAround(-16.8, 179.9995, document));

  const [first] = before;
  const [movedFirst] = moved;
  for (const [index, { latitude, longitude }] of before.entries()) {
    const [north, east] = [
      (moved[index]?.latitude ?? 0) - (movedFirst?.latitude ?? 0),
      (moved[index]?.longitude ?? 0) - (movedFirst?.longitude ?? 0),
    ];
    expect(north).toBeCloseTo(latitude - (first?.latitude ?? 0), 5);
    expect(((east + 540) % 360) - 180).toBeCloseTo(longitude - (first?.longitude ?? 0), 5);
  }
  expect(polygonOf(moved)).toBeDefined();
  expect(new Set(moved.map(({ longitude }) => Math.sign(longitude)))).toEqual(new Set([1, -1]));
});
