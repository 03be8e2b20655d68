/** Keeps what dynalite has parsed: to parse each condition and update again takes a quarter of its thread's time. */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The service has some fifty expressions; other programs may send any number. */
const maxKept = 500;

/** Operators whose operands are checked by their values, not only by their types. */
const checksValues = /between|attribute_type/i;

/** Makes dynalite's parsers keep what they have parsed. */
export function keepParsedExpressions() {
  for (const name of ["conditionParser", "updateParser"]) keepParsed(require(`dynalite/db/${name}`));
}

/** Without values, what an expression is parsed to depends on its text, its names, and the types of its values. */
function keepParsed(parser) {
  const { parse } = parser;
  const kept = new Map();
  parser.parse = (text, { context }) => {
    if (checksValues.test(text)) return parse(text, { context });
    const { attrNames = {}, attrVals = {} } = context;
    const types = Object.entries(attrVals).map(([name, value]) => [name, ...Object.keys(value)]);
    const key = JSON.stringify([text, attrNames, types]);
    let known = kept.get(key);
    if (known === undefined) {
      known = parsedWithoutValues(parse, text, context, types);
      if (kept.size < maxKept) kept.set(key, known);
    }
    for (const name of known.usedNames) delete context.unusedAttrNames[name];
    for (const name of known.usedValues) delete context.unusedAttrVals[name];
    return withValues(known.parsed, known.placeholders, attrVals);
  };
}

/** @throws what the parser throws; nothing is kept then. */
function parsedWithoutValues(parse, text, context, types) {
  const attrVals = Object.fromEntries(
    types.map(([name, ...of]) => [name, Object.fromEntries(of.map((type) => [type, ""]))]),
  );
  const unusedAttrNames = { ...context.attrNames };
  const unusedAttrVals = { ...attrVals };
  const parsed = parse(text, { context: { ...context, attrVals, unusedAttrNames, unusedAttrVals } });
  return {
    parsed,
    placeholders: new Map(Object.entries(attrVals).map(([name, placeholder]) => [placeholder, name])),
    usedNames: Object.keys(context.attrNames ?? {}).filter((name) => !(name in unusedAttrNames)),
    usedValues: Object.keys(attrVals).filter((name) => !(name in unusedAttrVals)),
  };
}

/** A copy, which dynalite may change, with values in place of their placeholders. */
function withValues(parsed, placeholders, values) {
  if (typeof parsed !== "object" || parsed === null) return parsed;
  const name = placeholders.get(parsed);
  if (name !== undefined) return values[name];
  if (Array.isArray(parsed)) return parsed.map((part) => withValues(part, placeholders, values));
  const copy = Object.create(Object.getPrototypeOf(parsed));
  for (const [key, part] of Object.entries(parsed)) copy[key] = withValues(part, placeholders, values);
  return copy;
}
