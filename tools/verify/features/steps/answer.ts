import { expectThat, Unexpected } from "../ending.ts";
import { valuesAt } from "../property-path.ts";
import type { World } from "../world.ts";
import { valueNamed } from "./devices.ts";
import { on, type Step } from "./step.ts";

/** What any answer has. */
export const answerSteps: readonly Step[] = [
  on(/^the response status code is "?(\d{3})"?$/, ({ sentAnswer: { status, body } }, expected) => {
    const [code] = valuesAt(body, "$.code");
    const answered = typeof code === "string" ? `${status} ${code}` : status;
    expectThat(status === Number(expected), `expected ${expected}, answered ${answered}`);
  }),
  on(
    /^the response header "(.+)" has same value as the request header "(.+)"$/,
    ({ sentAnswer, headers }, name = "", sentName = "") => {
      const value = sentAnswer.headers.get(name);
      const isSame = value !== null && value === headers.get(sentName);
      expectThat(isSame, `the response lacks the ${name} of the request`);
    },
  ),
  on(/^the response header "(.+)" is "(.+)"$/, ({ sentAnswer }, name = "", expected = "") => {
    const [value] = (sentAnswer.headers.get(name) ?? "").split(";");
    const isExpected = value?.trim().toLowerCase() === expected.toLowerCase();
    expectThat(isExpected, `the header ${name} is not ${expected}`);
  }),
  on(/^the response body complies with the \w+ schema at "(.+)"$/, (world, pointer = "") =>
    requireSchema(world, world.sentAnswer.body, pointer),
  ),
  on(
    /^each item of the response array(, if any,)? ?complies with the OAS schema at "(.+)"$/,
    (world, ifAny, pointer = "") => {
      for (const item of itemsOf(world, ifAny !== "")) requireSchema(world, item, pointer);
    },
  ),
  on(
    /^the response array has only one item which complies with the OAS schema at "(.+)"$/,
    (world, pointer = "") => {
      const items = itemsOf(world, true);
      expectThat(items.length === 1, `the response has ${items.length} items`);
      requireSchema(world, items[0], pointer);
    },
  ),
  on(
    /^each item of the response array, if any, has property "\$\[\*\]\.(\w+)" equal to (\S+)$/,
    (world, name = "", expected = "") => {
      const values = itemsOf(world, true).flatMap((item) => valuesAt(item, `$.${name}`));
      const isEach = values.every((value) => value === expected);
      expectThat(isEach, `an item has another ${name} than ${expected}`);
    },
  ),
  on(/^the response body is (\[\])$/, ({ sentAnswer: { body } }) =>
    expectThat(isEmptyList(body), "the response is no empty list"),
  ),
  on(/^the response property "(\$.+)" is an empty array$/, ({ sentAnswer }, path = "") =>
    expectThat(isEmptyList(valuesAt(sentAnswer.body, path)[0]), `${path} is no empty array`),
  ),
  on(
    /^the response includes property "(\$.+)"$/,
    ({ sentAnswer }, path = "") => void present(sentAnswer.body, path),
  ),
  on(/^the response property "(\$.+)" contains a user[ -]friendly text$/, ({ sentAnswer }, path = "") => {
    const [text] = valuesAt(sentAnswer.body, path);
    const words = typeof text === "string" ? text.split(/\s+/).filter((word) => /\p{L}/u.test(word)) : [];
    expectThat(words.length > 1, `${path} is no text of several words`);
  }),
  on(/^the response property "(\$.+)" is (\d+)$/, ({ sentAnswer }, path = "", expected) =>
    requireOneOf(sentAnswer.body, path, [Number(expected)]),
  ),
  on(/^the value of response property "(\$.+)" is (true|false)$/, ({ sentAnswer }, path = "", expected) =>
    requireOneOf(sentAnswer.body, path, [expected === "true"]),
  ),
  on(
    /^the response property "(\$.+)" (?:value )?is (?:equal to )?"([^"]+)"(?: or "([^"]+)")?$/,
    ({ sentAnswer }, path = "", ...groups) =>
      requireOneOf(
        sentAnswer.body,
        path,
        groups.filter((group) => group !== ""),
      ),
  ),
  on(
    /^the response property "(\$.+)" value is equal to the request body property "(\$.+)"$/,
    (world, path = "", sent = "") => requireOneOf(world.sentAnswer.body, path, [world.sentValue(sent)]),
  ),
  on(/^the response property "(\$.+)" value is equal to path param "(\w+)"$/, (world, path = "", name = "") =>
    requireOneOf(world.sentAnswer.body, path, [world.pathParameters[name]]),
  ),
  on(/^the response property "(\$.+)" exists and is equal to ([A-Z0-9]+)$/, (world, path = "", name = "") => {
    const isEqual = present(world.sentAnswer.body, path) === valueNamed(world, name);
    expectThat(isEqual, `${path} is not ${name}`);
  }),
  on(
    /^the response property "(\$.+)", if present, is equal to ([A-Z0-9]+)$/,
    (world, path = "", name = "") => {
      const [value] = valuesAt(world.sentAnswer.body, path);
      expectThat(value === undefined || value === valueNamed(world, name), `${path} is not ${name}`);
    },
  ),
  on(
    /^the response property "(\$.+)" exists and is a valid date-time in the past$/,
    ({ sentAnswer }, path = "") => {
      const time = timeOf(present(sentAnswer.body, path), path);
      expectThat(time < Date.now(), `${path} is not in the past`);
    },
  ),
];

/** All values of a path, of which there must be at least one, and none may be missing. */
export function allPresent(body: unknown, path: string): readonly unknown[] {
  const values = valuesAt(body, path);
  if (values.length === 0 || values.includes(undefined)) throw new Unexpected(`there is no ${path}`);
  return values;
}

/** A value that must be there. */
export function present(body: unknown, path: string): unknown {
  return allPresent(body, path)[0];
}

/** All values of a path must be there, and each must be one of these. */
export function requireOneOf(body: unknown, path: string, expected: readonly unknown[]): void {
  const isExpected = allPresent(body, path).every((value) => expected.includes(value));
  expectThat(isExpected, `${path} is not as expected`);
}

/** A schema of the definition that a value must comply with. */
export function requireSchema({ resource: { definition } }: World, value: unknown, pointer: string): void {
  const problem = definition.problemOf(value, pointer);
  expectThat(problem === undefined, `the body is not as ${pointer} says: ${problem}`);
}

/** The time that a text of RFC 3339 means. */
export function timeOf(value: unknown, path: string): number {
  const isTime =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(value);
  const time = isTime ? Date.parse(value) : Number.NaN;
  expectThat(!Number.isNaN(time), `${path} is no date-time with a zone`);
  return time;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The items of the list that was answered; of an operation that answers one object, that object. */
function itemsOf(world: World, mayBeEmpty: boolean): readonly unknown[] {
  const { body } = world.sentAnswer;
  if (!world.resource.operation.isList) {
    world.notes.push("the response array is read as the one object that the definition has");
    return [body];
  }
  if (!Array.isArray(body)) throw new Unexpected("the response is no list");
  expectThat(mayBeEmpty || body.length > 0, "the response is an empty list");
  return body;
}
