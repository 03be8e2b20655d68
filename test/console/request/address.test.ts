import fc from "fast-check";
import { expect, test } from "vitest";
import { areaOf } from "../../../console/data/area.ts";
import { readAddress, writeAddress } from "../../../console/request/address.ts";
import { triangle } from "./points.ts";

const from = new Date("2026-11-23T10:00:00Z");
const hour = new Date("2026-11-23T14:00:00Z");

test("writeAddress formats areas, period, precision and hour as documented", () => {
  const areas = [areaOf(triangle), areaOf(triangle)];

  expect(writeAddress({ areas, from, hours: 24, precision: 6, hour })).toBe(
    "#area=4.8,45.7,4.82,45.71,4.83,45.69;4.8,45.7,4.82,45.71,4.83,45.69" +
      "&from=2026-11-23T10:00Z&hours=24&precision=6&hour=2026-11-23T14:00Z",
  );
});

test("an address has the name, the scale and the tilt of what its sender saw", () => {
  const seen = {
    areas: [areaOf(triangle)],
    name: "Parc & Cité, été",
    scale: "This answer",
    isTilted: true,
  } as const;

  const written = writeAddress(seen);

  expect(written).toBe(
    "#area=4.8,45.7,4.82,45.71,4.83,45.69&name=Parc%20%26%20Cit%C3%A9%2C%20%C3%A9t%C3%A9&scale=own&view=3d",
  );
  expect(readAddress(written)).toEqual({ state: seen, unread: [] });
});

test("readAddress returns any state that writeAddress was given, also when a program has escaped it", () => {
  const wholeHour = fc.integer({ min: 0, max: 1_000_000 }).map((hours) => new Date(hours * 3_600_000));
  const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true });
  const area = fc
    .array(fc.record({ latitude: degrees(90), longitude: degrees(180) }), { minLength: 3, maxLength: 15 })
    .map(areaOf);
  const members = {
    areas: fc.array(area, { minLength: 1, maxLength: 3 }),
    from: wholeHour,
    hours: fc.integer({ min: 1, max: 168 }),
    precision: fc.integer({ min: 1, max: 12 }),
    hour: wholeHour,
  };

  fc.assert(
    fc.property(fc.record(members, { requiredKeys: [] }), (state) => {
      const written = writeAddress(state);
      const escaped = `#${written
        .slice(1)
        .split("&")
        .map((member) => member.replaceAll(/[,;:]/g, encodeURIComponent))
        .join("&")}`;

      for (const fragment of [written, escaped]) expect(readAddress(fragment)).toEqual({ state, unread: [] });
    }),
  );
});

test("readAddress takes two pairs as the corners of a box", () => {
  const { state } = readAddress("#area=4.8,45.7,4.9,45.8");

  expect(state.areas?.[0]?.boundary).toHaveLength(4);
  expect(state.areas?.[0]?.boundary[2]).toEqual({ latitude: 45.8, longitude: 4.9 });
});

test.each([
  ["area=4.8,45.7,4.9", "area"],
  ["area=4.8,45.7,4.9,45.6", "area"],
  ["area=-120,0,120,10", "area"],
  ["area=4.8,,4.9,45.8", "area"],
  ["from=2026-02-30T10:00Z", "from"],
  ["hour=2026-11-23T10:30Z", "hour"],
  ["hours=0", "hours"],
  ["precision=%E0%A4", "precision"],
  ["zoom=3", "zoom"],
  ["scale=constructor", "scale"],
  [`name=${"x".repeat(101)}`, "name"],
])("readAddress names a member that it cannot read, as in #%s, and reads the others", (member, name) => {
  expect(readAddress(`#${member}&hours=6`)).toMatchObject({ state: { hours: 6 }, unread: [name] });
});
