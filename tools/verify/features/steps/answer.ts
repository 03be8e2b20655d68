import { expectThat, Unexpected } from "../ending.ts";
import { valuesAt } from "../property-path.ts";
import type { World } from "../world.ts";
import { valueNamed } from "./devices.ts";
import type { Step } from "./step.ts";

/** What any answer has. */
export const answerSteps: readonly Step[] = [
  {
    pattern: /^the response status code is "?(\d{3})"?$/,
    run: ({ sentAnswer: { status, body } }, expected) => {
      const [code] = valuesAt(body, "$.code");
      const answered = typeof code === "string" ? `${status} ${code}` : status;
      expectThat(status === Number(expected), `expected ${expected}, answered ${answered}`);
    },
  },
  {
    pattern: /^the response header "(.+)" has same value as the request header "(.+)"$/,
    run: ({ sentAnswer, headers }, name = "", sentName = "") => {
      const value = sentAnswer.headers.get(name);
      expectThat(
        value !== null && value === headers.get(sentName),
        `the response lacks the ${name} of the request`,
      );
    },
  },
  {
    pattern: /^the response header "(.+)" is "(.+)"$/,
    run: ({ sentAnswer }, name = "", expected = "") => {
      const [value] = (sentAnswer.headers.get(name) ?? "").split(";");
      expectThat(
        value?.trim().toLowerCase() === expected.toLowerCase(),
        `the header ${name} is not ${expected}`,
      );
    },
  },
  {
    pattern: /^the response body complies with the \w+ schema at "(.+)"$/,
    run: (world, pointer = "") => requireSchema(world, world.sentAnswer.body, pointer),
  },
  {
    pattern: /^each item of the response array(, if any,)? ?complies with the OAS schema at "(.+)"$/,
    run: (world, ifAny, pointer = "") => {
      for (const item of itemsOf(world, ifAny !== "")) requireSchema(world, item, pointer);
    },
  },
  {
    pattern: /^the response array has only one item which complies with the OAS schema at "(.+)"$/,
    run: (world, pointer = "") => {
      const items = itemsOf(world, true);
      expectThat(items.length === 1, `the response has ${items.length} items`);
      requireSchema(world, items[0], pointer);
    },
  },
  {
    pattern: /^each item of the response array, if any, has property "\$\[\*\]\.(\w+)" equal to (\S+)$/,
    run: (world, name = "", expected = "") => {
      const values = itemsOf(world, true).flatMap((item) => valuesAt(item, `$.${name}`));
      expectThat(
        values.every((value) => value === expected),
        `an item has another ${name} than ${expected}`,
      );
    },
  },
  {
    pattern: /^the response body is (\[\])$/,
    run: ({ sentAnswer: { body } }) =>
      expectThat(Array.isArray(body) && body.length === 0, "the response is no empty list"),
  },
  {
    pattern: /^the response property "(\$.+)" is an empty array$/,
    run: ({ sentAnswer }, path = "") => {
      const [value] = valuesAt(sentAnswer.body, path);
      expectThat(Array.isArray(value) && value.length === 0, `${path} is no empty array`);
    },
  },
  {
    pattern: /^the response includes property "(\$.+)"$/,
    run: ({ sentAnswer }, path = "") => void present(sentAnswer.body, path),
  },
  {
    pattern: /^the response property "(\$.+)" contains a user[ -]friendly text$/,
    run: ({ sentAnswer }, path = "") => {
      const [text] = valuesAt(sentAnswer.body, path);
      const isSentence = typeof text === "string" && /\p{L}+.*\s.*\p{L}+/su.test(text);
      expectThat(isSentence, `${path} is no text of several words`);
    },
  },
  {
    pattern: /^the response property "(\$.+)" is (\d+)$/,
    run: ({ sentAnswer }, path = "", expected) => requireOneOf(sentAnswer.body, path, [Number(expected)]),
  },
  {
    pattern: /^the value of response property "(\$.+)" is (true|false)$/,
    run: ({ sentAnswer }, path = "", expected) => requireOneOf(sentAnswer.body, path, [expected === "true"]),
  },
  {
    pattern: /^the response property "(\$.+)" (?:value )?is (?:equal to )?"([^"]+)"(?: or "([^"]+)")?$/,
    run: ({ sentAnswer }, path = "", ...texts) =>
      requireOneOf(
        sentAnswer.body,
        path,
        texts.filter((text) => text !== ""),
      ),
  },
  {
    pattern: /^the response property "(\$.+)" value is equal to the request body property "(\$.+)"$/,
    run: (world, path = "", sent = "") => requireOneOf(world.sentAnswer.body, path, [world.sentValue(sent)]),
  },
  {
    pattern: /^the response property "(\$.+)" value is equal to path param "(\w+)"$/,
    run: (world, path = "", name = "") =>
      requireOneOf(world.sentAnswer.body, path, [world.pathParameters[name]]),
  },
  {
    pattern: /^the response property "(\$.+)" exists and is equal to ([A-Z0-9]+)$/,
    run: (world, path = "", name = "") => {
      const isEqual = present(world.sentAnswer.body, path) === valueNamed(world, name);
      expectThat(isEqual, `${path} is not ${name}`);
    },
  },
  {
    pattern: /^the response property "(\$.+)", if present, is equal to ([A-Z0-9]+)$/,
    run: (world, path = "", name = "") => {
      const [value] = valuesAt(world.sentAnswer.body, path);
      expectThat(value === undefined || value === valueNamed(world, name), `${path} is not ${name}`);
    },
  },
  {
    pattern: /^the response property "(\$.+)" exists and is a valid date-time in the past$/,
    run: ({ sentAnswer }, path = "") => {
      const time = timeOf(present(sentAnswer.body, path), path);
      expectThat(time < Date.now(), `${path} is not in the past`);
    },
  },
];

/** A value that must be there. */
export function present(body: unknown, path: string): unknown {
  const values = valuesAt(body, path);
  if (values.length === 0 || values.includes(undefined)) throw new Unexpected(`there is no ${path}`);
  return values[0];
}

/** All values of a path, of which there must be one at least, and each must be one of these. */
export function requireOneOf(body: unknown, path: string, expected: readonly unknown[]): void {
  present(body, path);
  const isExpected = valuesAt(body, path).every((value) => value !== undefined && expected.includes(value));
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
