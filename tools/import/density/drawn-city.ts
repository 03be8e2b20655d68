import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import * as z from "zod";
import { isTimeZone } from "../../../functions/population-density/tiles/typical-calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";

const position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)]);

/** A longitude and a latitude, as in GeoJSON. */
export type Position = z.output<typeof position>;

const metres = z.number().positive();

/** A place around which people are: half of them within 1.2 radii. */
const place = z.strictObject({
  name: z.string(),
  at: position,
  radius: metres,
  /** Compared with the others of its list. */
  weight: z.number().positive(),
});

/** A place of a city. */
export type Place = z.output<typeof place>;

const { weight: share, ...placed } = place.shape;

const factor = z.number().min(0).max(1);

/**
 * A city whose communes are known by their populations and whose shape is drawn by hand, right to a hundred metres or so.
 *
 * A public grid of residents would be larger than the project, has residents only, and would look as if the service held
 * counts of real people. Outlines of OpenStreetMap are exact, but their licence (ODbL) asks more than attribution.
 */
export const drawnCity = z.strictObject({
  timeZone: z.string().refine(isTimeZone, "must be the name of a time zone, such as Europe/Paris"),
  communes: z.array(
    z.strictObject({
      /** Code of INSEE; for an arrondissement of Lyon, Marseille or Paris its own. */
      code: z.string(),
      centres: z.array(z.strictObject({ ...placed, share })).min(1),
    }),
  ),
  workplaces: z.array(place),
  attractions: z.array(place),
  stations: z.array(place),
  water: z.array(z.strictObject({ name: z.string(), width: metres, line: z.array(position).min(2) })),
  /** Ground with fewer buildings: what is left there of residents and workers, and how many visitors it has. */
  open: z.array(
    z.strictObject({
      name: z.string(),
      ring: z.array(position).min(4),
      residents: factor,
      workers: factor,
      visitors: z.number().min(0),
    }),
  ),
});

/** A city whose communes are known by their populations and whose shape is drawn. */
export type DrawnCity = z.output<typeof drawnCity>;

const require = createRequire(import.meta.url);

const communesFile = z.array(
  z.object({ code: z.string(), nom: z.string(), population: z.number().optional() }),
);

let communesOfFrance: Promise<z.output<typeof communesFile>> | undefined;

/**
 * The communes of which INSEE has a population. One that has become a part of another has none, and may have the code
 * of the other.
 */
async function readCommunes() {
  // Read rather than imported: TypeScript would make a type of its 8 MB.
  const path = require.resolve("@etalab/decoupage-administratif/data/communes.json");
  communesOfFrance ??= readFile(path, "utf8").then((text) =>
    communesFile.parse(JSON.parse(text)).filter(({ population }) => population !== undefined),
  );
  return await communesOfFrance;
}

/** The names of communes by their codes; that of an arrondissement as people write it: `Lyon 3e`. */
export async function namesOfCommunes(): Promise<ReadonlyMap<string, string>> {
  const communes = await readCommunes();
  return new Map(communes.map(({ code, nom }) => [code, nom.replace(/ Arrondissement$/, "")]));
}

/**
 * The centres of all communes, each with its share of the people.
 * @throws {ImportError} for a commune of which INSEE has no population.
 */
export async function populatedCentres(city: DrawnCity): Promise<Place[]> {
  const populations = new Map((await readCommunes()).map(({ code, population }) => [code, population]));
  return city.communes.flatMap(({ code, centres }) => {
    const people = populations.get(code);
    if (people === undefined) throw new ImportError([`commune ${code}: its population is not known`]);
    const all = centres.reduce((sum, { share }) => sum + share, 0);
    return centres.map(({ share, ...place }) => ({ ...place, weight: (people * share) / all }));
  });
}
