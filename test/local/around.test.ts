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

const places = ["Tromsø", "Saint-Étienne", "Łódź", "Nairobi", "Nuku‘alofa"].map((name) => place(name));

test.each([
  ["tromso", "Tromsø"],
  ["SAINT ETIENNE", "Saint-Étienne"],
  ["lodz", "Łódź"],
  ["Nukuʻalofa", "Nuku‘alofa"],
  ["nukualofa", "Nuku‘alofa"],
])("--around finds %s as %s, without accents, case, apostrophes and hyphens", (typed, name) => {
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
  expect(placesNamed("Paris, Texas", several)).toEqual([texas]);
  expect(placesNamed("Paris, TX, USA", several)).toEqual([texas]);
  expect(() => placesNamed("Paris, Ohio", [france])).toThrow("have none of this name");
});

test("--around names the nearest place for an unknown one, but none that differs in more than two letters", () => {
  const nearest = 'The nearest is Nairobi, Norway: --around "Nairobi, Norway"';
  expect(() => placesNamed("Nairbi", places)).toThrow(nearest);
  expect(() => placesNamed("Nairobi Hills", places)).toThrow(/this name$/);
});

test.each([
  ["München", "Munich, Germany"],
  ["Saigon", "Ho Chi Minh City, Vietnam"],
  ["New York", "New York City, NY, United States"],
  ["Washington, DC", "Washington, D.C., DC, United States"],
  ["Geneva", "Genève, Switzerland"],
])("--around %s covers %s, not a smaller place with that very name", async (typed, name) => {
  expect((await aroundOf(typed)).name).toBe(name);
});

test("--around takes a place as the page does, latitude first, and a box of four numbers", async () => {
  const { model } = await aroundOf("45.76,4.83");
  const [west = 0, south = 0, east = 0, north = 0] = JSON.parse(model).bbox;
  expect((south + north) / 2).toBeCloseTo(45.76, 4);
  expect((west + east) / 2).toBeCloseTo(4.83, 4);
});

test("--around takes the largest of several places, and lists the others with country, people and their own --around", async () => {
  const { name, notes } = await aroundOf("springfield");
  const [first, second = ""] = notes;
  expect(first).toContain(name);
  const form = /^Springfield, .+, United States \((\d+),\d{3} people\): --around (.+)$/;
  const [, , box = ""] = form.exec(second) ?? [];
  expect((await aroundOf(box)).name).toBe(box);
});

test.each([0, 64.18, -89.99])("npm start --around NAME covers 10 × 10 km at latitude %d", (latitude) => {
  const { west, south, east, north } = boxAt({ latitude, longitude: 36.75 });
  expect((north - south) * 111.2).toBeCloseTo(latitude < -89 ? 6.1 : 10, 1);
  if (latitude > -89) expect((east - west) * 111.2 * Math.cos((latitude * Math.PI) / 180)).toBeCloseTo(10, 1);
});

test("npm start --around NAME covers a place at the antimeridian on both sides of it", () => {
  expect(boxAt({ latitude: 0, longitude: 179.98 })).toMatchObject({ west: 179.93504, east: -179.97504 });
  expect(boxAt({ latitude: 0, longitude: -180 })).toMatchObject({ west: 179.95504, east: -179.95504 });
});

test("--around says of a box in the sea that nobody lives there, and lets examples ask at the largest place of another", async () => {
  expect((await aroundOf("0,0,0.05,0.05")).notes).toEqual([
    expect.stringContaining("The model has nobody here"),
  ]);
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
  ["0,0,3,3", /has \d,\d{3},\d{3} cells .*, and 40,000 can be covered: a box of 29 × 29 km fits/],
  ["45.76,4.83,1", "must be four numbers"],
  ["0,0,0.1,-0.1", "must have its south before its north"],
  ["none.geojson", "no such file"],
])("--around refuses %s, which %s", async (text, message) => {
  await expect(aroundOf(text)).rejects.toThrow(message);
});
