import { ImportError } from "../../../../shared/import/import-error.ts";

/** What a column may be called, in lower case; the second list is tried if none of the first matches. */
const columnNames = {
  latitude: [["latitude", "lat"], ["y"]],
  longitude: [["longitude", "lon", "lng", "long"], ["x"]],
  h3: [
    ["h3", "h3_index", "h3index"],
    ["hex", "hex_id", "cell", "index"],
  ],
  people: [
    ["people", "population", "pop"],
    ["value", "count", "z"],
  ],
} as const;

/** The population of a year, which is the people of a row. */
const ofYear = /^(population|pop)_?\d{4}$/;

/** What the columns of a CSV of people are read as. */
export const roles = ["latitude", "longitude", "h3", "people"] as const;

/** What a column is read as. */
export type Column = (typeof roles)[number];

/** The names of columns that are called otherwise. */
export type NamedColumns = Readonly<Partial<Record<Column, string>>>;

/**
 * Where the wanted columns are in a header.
 * @throws {ImportError} for a column that is missing, and for two of them.
 */
export function columnsIn(
  header: readonly string[],
  wanted: readonly Column[],
  named: NamedColumns,
  file: string,
) {
  const names = header.map((name) => name.trim().toLowerCase());
  const found: Partial<Record<Column, number>> = {};
  for (const column of wanted) {
    const reason = (text: string) => new ImportError([`${file}: ${text}`]);
    const candidates = candidatesFor(column, names, named[column]);
    const [first, second] = candidates;
    if (first === undefined && named[column] !== undefined) {
      throw reason(`has no column named ${named[column]}, which --column gives for ${column}`);
    }
    if (first === undefined) {
      const known = columnNames[column].flat().join(", ");
      throw reason(`has no column for ${column}: name it ${known}; or give --column ${column}=NAME`);
    }
    if (second !== undefined && names[first] === names[second]) {
      throw reason(`has two columns named ${names[first]}`);
    }
    if (second !== undefined) {
      const both = `${names[first]} and ${names[second]}`;
      throw reason(`has two columns for ${column}, ${both}: give --column ${column}=NAME`);
    }
    found[column] = first;
  }
  return found;
}

/** The columns that may be meant, by their index. */
function candidatesFor(column: Column, names: readonly string[], named: string | undefined): number[] {
  const indexesOf = (isMeant: (name: string) => boolean) =>
    names.flatMap((name, index) => (isMeant(name) ? [index] : []));
  if (named !== undefined) return indexesOf((name) => name === named.trim().toLowerCase());
  const [usual, rare] = columnNames[column] as readonly (readonly string[])[];
  const found = indexesOf(
    (name) => usual?.includes(name) === true || (column === "people" && ofYear.test(name)),
  );
  return found.length > 0 ? found : indexesOf((name) => rare?.includes(name) === true);
}
