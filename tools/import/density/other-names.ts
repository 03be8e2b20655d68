import { readFile } from "node:fs/promises";

interface Named {
  readonly name: string;
  /** Two letters. */
  readonly country: string;
}

/** Adds the other names of large cities. @param places the largest first, which is the one that is meant */
export async function withOtherNames<Place extends Named>(
  places: readonly Place[],
): Promise<(Place & { readonly otherNames?: readonly string[] })[]> {
  const text = await readFile(new URL("./other-names.txt", import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const others = new Map(lines.map((line) => line.split(": ") as [city: string, names: string]));
  return places.map((place) => {
    const city = `${place.country} ${place.name}`;
    const names = others.get(city);
    others.delete(city);
    return names === undefined ? place : { ...place, otherNames: names.split(", ") };
  });
}
