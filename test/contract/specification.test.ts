import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { type Code, errorRow, errors } from "../../shared/errors.ts";

const declared: readonly Endpoint[] = endpoints;

/** The sections of the specification by their numbers. */
const sections = new Map(
  readFileSync(new URL("../../docs/specification.md", import.meta.url), "utf8")
    .split(/^#{2,3} /m)
    .map((text) => [/^[\d.]+\d/.exec(text)?.[0] ?? "", text] as const),
);

interface SpecifiedError {
  readonly status: number;
  readonly code: string;
}

/** The errors that a section lists, in a table or in a line. */
function errorsIn(text: string): SpecifiedError[] {
  const rows = text.matchAll(/^\| (?<status>[45]\d\d) \| (?<code>[A-Z_.]+) \|/gm);
  const listed = text.matchAll(/\b(?<status>[45]\d\d) `(?<code>[A-Z_.]+)`/g);
  return [...rows, ...listed].map(({ groups }) => ({
    status: Number(groups?.status),
    code: groups?.code ?? "",
  }));
}

/** The operations of part 4, each with the errors that its section lists or leads to. */
const operations = [...sections]
  .filter(([number]) => number.startsWith("4."))
  .map(([, text]) => {
    const route = /^- `(\w+ \/[^`]*)`$/m.exec(text)?.[1] ?? "";
    const elsewhere = /^- Errors: see ([\d.]+\d)\.$/m.exec(text)?.[1];
    const listing = elsewhere === undefined ? text : (sections.get(elsewhere) ?? "");
    return { route, errors: errorsIn(listing) };
  });

const specifiedErrors = [...sections.values()].flatMap(errorsIn);

test.each(operations.map((operation) => [operation.route, operation] as const))(
  "the endpoint for %s declares every code that the specification lists",
  (route, { errors: listed }) => {
    const endpoint = declared.find((one) => pathsOf(one).some((path) => `${one.method} ${path}` === route));
    expect(endpoint).toBeDefined();
    const codes: readonly string[] = endpoint?.errors ?? [];
    expect(listed.filter(({ code }) => !codes.includes(code))).toEqual([]);
  },
);

test("the specification lists the errors of every operation but the login", () => {
  expect(operations.filter((operation) => operation.errors.length === 0).map(({ route }) => route)).toEqual([
    "POST /profile/authenticate",
  ]);
});

test("every code has the status that the specification gives it", () => {
  const statuses = specifiedErrors.map(({ code }) => ({
    status: Object.hasOwn(errors, code) ? errorRow(code as Code).status : undefined,
    code,
  }));
  expect(statuses).toEqual(specifiedErrors);
});
