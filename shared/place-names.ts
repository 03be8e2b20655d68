/** Names of places as people type them. */

/** Letters whose accents Unicode does not take apart. */
const undecomposed: Readonly<Record<string, string>> = {
  ø: "o",
  œ: "oe",
  æ: "ae",
  ð: "d",
  ł: "l",
  đ: "d",
  ß: "ss",
  ı: "i",
};

/** A name without accents, apostrophes that are letters, and capitals, with spaces alone between its words. */
export function plain(text: string): string {
  return text
    .normalize("NFD")
    .replace(/[\p{M}\p{Lm}]/gu, "")
    .toLowerCase()
    .replace(/[øœæðłđßı]/g, (letter) => undecomposed[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** A name by which two spellings are the same: also without spaces, hyphens and apostrophes of any kind. */
export function folded(text: string): string {
  return plain(text).replaceAll(" ", "");
}

const countries = new Intl.DisplayNames("en", { type: "region" });

/** `France`. @param code two letters */
export function countryName(code: string): string {
  return countries.of(code) ?? code;
}

/**
 * Whether a text names a place: by one of its names alone or, after a comma, with its country or state.
 * @param region two letters of the country; of the United States with the state, `US-TX`
 */
export function isNameOf(text: string, names: readonly string[], region: string): boolean {
  const wanted = folded(text);
  const found = names.map(folded).filter((name) => wanted.startsWith(name));
  if (found.some((name) => name === wanted)) return true;
  if (!text.includes(",") || region === "" || found.length === 0) return false;
  const [country = "", state = ""] = region.split("-");
  const inCountry = [country, countryName(country), ...(others[country] ?? [])];
  const inState = country === "US" ? [state, states[state] ?? state] : [];
  const regions = [...inCountry, ...inState, ...inState.flatMap((one) => inCountry.map((two) => one + two))];
  return found.some((name) => regions.some((one) => name + folded(one) === wanted));
}

const others: Readonly<Record<string, readonly string[]>> = {
  US: ["USA", "United States of America"],
  GB: ["UK", "Great Britain", "England", "Scotland", "Wales", "Northern Ireland"],
  NL: ["Holland"],
  TR: ["Turkey"],
  CZ: ["Czech Republic"],
  MM: ["Burma"],
};

/** The states by their two letters. */
const states = Object.fromEntries(
  (
    "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware," +
    "DC District of Columbia,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas," +
    "KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi," +
    "MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York," +
    "NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island," +
    "SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington," +
    "WV West Virginia,WI Wisconsin,WY Wyoming"
  )
    .split(",")
    .map((state) => [state.slice(0, 2), state.slice(3)]),
) as Readonly<Record<string, string>>;
