import fc from "fast-check";
import { expect, test } from "vitest";
import { areaProblem, type Point } from "../../../console/data/area.ts";
import { fitAreas } from "../../../console/request/fit-areas.ts";
import { extentOf } from "../../../console/request/simplify.ts";
import { limits, triangle } from "./points.ts";

/** A circle around a place. */
function circle(count: number, { latitude = 45.7, longitude = 4.8, radius = 0.05 } = {}): Point[] {
  return Array.from({ length: count }, (_, index) => {
    const angle = (2 * Math.PI * index) / count;
    return { latitude: latitude + radius * Math.sin(angle), longitude: longitude + radius * Math.cos(angle) };
  });
}

test("fitAreas leaves polygons as they are that the API takes, without the point that closes them", () => {
  expect(fitAreas([[...triangle, triangle[0]]], limits)).toEqual({
    areas: [{ areaType: "POLYGON", boundary: triangle }],
    outlines: [],
    remarks: [],
  });
});

test("fitAreas simplifies a polygon to 15 points of it, says how its size changes, and returns what was given", () => {
  const ring = circle(500);

  const { areas, outlines, remarks } = fitAreas([ring, triangle], limits);

  const [{ boundary } = { boundary: [] }] = areas;
  expect(boundary).toHaveLength(15);
  expect(extentOf(boundary) / extentOf(ring)).toBeGreaterThan(0.96);
  expect(outlines).toEqual([ring]);
  expect(remarks).toHaveLength(1);
  expect(remarks[0]).toMatch(/^Simplified from 500 to 15 points, which changes the size by −\d\.\d %/);
});

test("fitAreas makes an area that the API takes of every star of up to 200 points, also across the antimeridian", () => {
  const star = fc.record({
    radii: fc.array(fc.double({ min: 0.001, max: 0.5, noNaN: true }), { minLength: 16, maxLength: 200 }),
    longitude: fc.constantFrom(4.8, 179.9),
  });

  fc.assert(
    fc.property(star, ({ radii, longitude }) => {
      const ring = radii.map((radius, index) => {
        const [point] = circle(1, { longitude, radius: 0 });
        const angle = (2 * Math.PI * index) / radii.length;
        const east = longitude + radius * Math.cos(angle);
        return {
          latitude: (point?.latitude ?? 0) + radius * Math.sin(angle),
          longitude: east > 180 ? east - 360 : east,
        };
      });

      const { areas } = fitAreas([ring], limits);

      expect(areas.map((area) => areaProblem(area, limits))).toEqual([undefined]);
    }),
  );
});

test("fitAreas uses the 20 largest of more polygons, and says so", () => {
  const rings = Array.from({ length: 30 }, (_, index) =>
    circle(4, { longitude: index, radius: 0.01 * (index + 1) }),
  );

  const { areas, remarks } = fitAreas(rings, limits);

  expect(areas.map(({ boundary }) => Math.round(boundary[1]?.longitude ?? 0))).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 10),
  );
  expect(remarks).toEqual(["The 20 largest of 30 polygons are used."]);
});

test("fitAreas leaves out a polygon that the API refuses, says why, and refuses to return none", () => {
  const bowtie = [
    triangle[0],
    { latitude: 45.8, longitude: 4.9 },
    { latitude: 45.7, longitude: 4.9 },
    { latitude: 45.8, longitude: 4.8 },
  ];
  const metres = triangle.map(({ latitude, longitude }) => ({
    latitude: latitude * 1e5,
    longitude: longitude * 1e5,
  }));

  expect(fitAreas([bowtie, triangle], limits).remarks[0]).toMatch(/^Left out: 1 polygon\. The edges/);
  expect(() => fitAreas([metres], limits)).toThrow("degrees of longitude and latitude");
});
