import { beforeEach, expect, test, vi } from "vitest";
import type { Place } from "../../tools/import/density/gazetteer.ts";
import { aroundOf, boxAt, placesNamed } from "../../tools/local/around.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
beforeEach(() => {
  vi.stubEnv("DENSITY_PRECISIONS", undefined);
});

/** A place; all are at the same point. */
function place(name: string, others: Partial<Place> = {}): Place {
  return { name, country: "NO", region: "01", people: 1_000, longitude: 0, latitude: 0, ...others };
}

const places = ["Tromsø", "Saint-Étienne", "Łódź", "Nairobi"].map((name) => place(name));

test.each([
  ["tromso", "Tromsø"],
  ["SAINT ETIENNE", "Saint-Étienne"],
  ["lodz", "Łódź"],
])("--around finds %s as %s, without accents, case and hyphens", (typed, name) => {
  expect(placesNamed(typed, places)).toEqual([place(name)]);
});

test("--around finds a place with its country, and as its messages name it with its state", () => {
  const france = place("Paris", { country: "FR", region: "11" });
  const texas = place("Paris", { country: "US", region: "TX" });
  const tennessee = place("Paris", { country: "US", region: "TN" });
  const several = [france, texas, tennessee];
  expect(placesNamed("paris, france", several)).toEqual([france]);
  expect(placesNamed("Paris, TN, United States", several)).toEqual([tennessee]);
  expect(placesNamed("Paris, United States", several)).toEqual([texas, tennessee]);
});

test("--around names the nearest place for an unknown one", () => {
  expect(() => placesNamed("Nairbi", places)).toThrow('The nearest is Nairobi, Norway: --around "Nairobi"');
});

test("--around takes the largest of several places, and lists the others with country, people and their own --around", async () => {
  const { name, notes } = await aroundOf("springfield");
  const [first, second = ""] = notes;
  expect(first).toContain(name);
  const form = /^Springfield, .+, United States \((\d+),\d{3} people\): --around (.+)$/;
  const [, , box = ""] = form.exec(second) ?? [];
  expect((await aroundOf(box)).name).toBe(box);
});

test("npm start --around NAME covers 0.1° × 0.1° around the place, also across the antimeridian", () => {
  const nairobi = { west: 36.7, south: -1.55, east: 36.8, north: -1.45 };
  expect(boxAt({ latitude: -1.5, longitude: 36.75 })).toEqual(nairobi);
  expect(boxAt({ latitude: 0, longitude: 179.98 })).toMatchObject({ west: 179.93, east: -179.97 });
  expect(boxAt({ latitude: 0, longitude: -180 })).toMatchObject({ west: 179.95, east: -179.95 });
});

test("--around says of a box in the sea that nobody lives there, and lets examples ask at the largest place of another", async () => {
  expect((await aroundOf("0,0,0.05,0.05")).notes).toEqual([expect.stringContaining("every cell is empty")]);
  const { notes, at } = await aroundOf("178.40,-18.16,178.46,-18.12");
  expect(notes).toEqual([]);
  expect(at).toMatch(/^-18\.14\d*,178\.44\d*$/);
});

test("--around covers the polygons of a file, and lets examples ask within them", async () => {
  const ring = JSON.parse("[[30, 0], [30.2, 0], [30, 0.2], [30, 0]]");
  const area = { type: "Polygon", coordinates: [ring] };
  const path = await folder.write("area.geojson", area);
  const { name, model, at } = await aroundOf(path);
  expect({ name, model: JSON.parse(model) }).toEqual({ name: path, model: { area } });
  const [latitude = 0, longitude = 0] = at.split(",").map(Number);
  expect(latitude + longitude - 30).toBeLessThan(0.201);
});

test.each([
  ["0,0,3,3", "has more than 40,000 cells"],
  ["45.76,4.83", "must be four numbers"],
  ["0,0,0.1,-0.1", "must have its south before its north"],
  ["none.geojson", "no such file"],
])("--around refuses %s, which %s", async (text, message) => {
  await expect(aroundOf(text)).rejects.toThrow(message);
});
