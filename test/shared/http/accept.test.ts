import { expect, test } from "vitest";
import { preferredType } from "../../../shared/http/accept.ts";

const json = "application/json";
const geo = "application/geo+json";
const csv = "text/csv";
const lines = "application/x-ndjson";
const offered = [json, geo, csv, lines] as const;

test.each([
  ["no header", undefined, json],
  ["an empty header", "", json],
  ["every type", "*/*", json],
  ["every type of a kind", "application/*", json],
  ["another kind", "text/*", csv],
  ["a type by name", geo, geo],
  ["a type in capitals", "Text/CSV", csv],
  ["a type with a parameter", "application/json; charset=utf-8", json],
  ["a type with a profile before its weight", 'application/geo+json;profile="x";q=0.5, text/csv;q=0.4', geo],
  ["the larger weight", "application/json;q=0.5, text/csv;q=0.9", csv],
  ["spaces around the weight", "application/json ; q=0.2 , text/csv ; Q=0.3", csv],
  ["the type by name rather than its kind, at the same weight", "application/*, text/csv", csv],
  ["the first of equals", `${geo}, ${json}`, geo],
  ["a weight of its own before that of its kind", "application/*;q=0.9, application/json;q=0.1", geo],
  ["a weight of 0, which excludes", "*/*, application/json;q=0", geo],
  ["a kind that is excluded", "*/*;q=0.1, application/*;q=0", csv],
  ["a type within an excluded kind", `application/*;q=0, ${lines}`, lines],
  ["what browsers send", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", json],
  ["what axios sends", "application/json, text/plain, */*", json],
  ["what Java sends", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", json],
  ["a weight that is none", `${csv};q=high, ${geo};q=0.1`, geo],
  ["a weight above 1", `${csv};q=2, ${geo};q=0.1`, geo],
  ["nothing that is a media range", "json, q=1, ;", json],
  ["a range with a kind alone", `*/json, ${csv}`, csv],
])("a caller's Accept is resolved: %s", (_, accept, type) => {
  expect(preferredType(accept, offered)).toBe(type);
});

test.each([
  ["another type", "application/xml"],
  ["another kind", "image/*"],
  ["every type at weight 0", "*/*;q=0"],
  ["a type of which another is the beginning", "application/geo"],
  ["the one type at weight 0.000", "text/csv;q=0.000"],
])("a caller's Accept matches no type: %s", (_, accept) => {
  expect(preferredType(accept, offered)).toBeUndefined();
});
