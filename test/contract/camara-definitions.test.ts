/** CAMARA's own API definitions, which are no part of the project: without them these tests are skipped, and say so. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, isAlias } from "../../shared/endpoint.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { readDefinitions } from "../../tools/verify/features/definitions.ts";
import { camaraRelease } from "../support/camara-release.ts";
import { invokeEvent } from "../support/invoke-event.ts";

const folder = camaraRelease();
const isThere = folder !== undefined;
if (!isThere)
  console.warn("SKIPPED: aliases were not held against CAMARA's definitions: set CAMARA_DEFINITIONS.");
const definitions = isThere ? await readDefinitions(folder) : [];

const routed = z.looseObject({
  resource: z.string(),
  path: z.string(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
});
const json = "content/application~1json/schema";

/** The alias of an endpoint that one of the definitions has, and where that describes it. */
function definedAt(endpoint: Endpoint) {
  return endpoint.aliases.flatMap((alias) =>
    definitions.flatMap((definition) => {
      const operation = definition.operationsAt(alias).find(({ method }) => method === endpoint.method);
      if (operation === undefined) return [];
      const path = alias.slice(definition.basePath.length).replaceAll("/", "~1");
      const place = `/paths/${path}/${endpoint.method.toLowerCase()}/responses`;
      return [{ alias, definition, operation, place }];
    }),
  );
}

/** An event as it would be at an alias of its endpoint. */
function eventAt(alias: string, endpoint: Endpoint, event: z.output<typeof routed>) {
  if (isAlias(endpoint, event.resource)) return event;
  const [own = ""] = endpoint.path.split("{");
  const [other = ""] = alias.split("{");
  return { ...event, resource: alias, path: event.path.replace(own, other) };
}

const names = eventFileNames();
const events = await Promise.all(names.map(async (name) => ({ name, ...(await readNamedEvent(name)) })));
const defined = (endpoints as readonly Endpoint[]).flatMap((endpoint) =>
  definedAt(endpoint).map((place) => [endpoint.id, { endpoint, ...place }] as const),
);

/** A status that every API of CAMARA may have, whether its definition lists it or not. */
const isGeneral = (status: number) => [406, 409, 429].includes(status) || status >= 500;

/** What an alias answers with another status than the path of the specification, by its event. */
const statusesAtAlias: Readonly<Record<string, number>> = {
  "device-identifier/retrieve.400-invalid-argument-inconsistent.json": 200,
};

/** The body of an event. One that is no JSON is wrong by any schema. */
function bodyOf({ body, isBase64Encoded }: z.output<typeof routed>): unknown {
  const text = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8").toString();
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

describe.skipIf(!isThere)("CAMARA's definitions", () => {
  test("the definitions have an alias of every API but the login", () => {
    expect(defined.map(([id]) => id)).toEqual([
      "qos-profiles/retrieve",
      "qos-profiles/get-by-name",
      "population-density/retrieve",
      "number-recycling/check",
      "device-identifier/retrieve",
      "device-identifier/retrieve-type",
      "device-identifier/retrieve-ppid",
    ]);
  });

  test.each(defined)(
    "%s answers every event at its alias as the definition says, and none that violates it with success",
    async (id, { endpoint, alias, definition, operation, place }) => {
      const violations: string[] = [];
      for (const { name, functionId, event, status } of events.filter((one) => one.functionId === id)) {
        const sent = eventAt(alias, endpoint, routed.parse(event));
        const { statusCode, headers, body } = await invokeEvent(functionId, sent);
        const expected = statusesAtAlias[name] ?? status;
        if (statusCode !== expected) violations.push(`${name}: ${statusCode} instead of ${expected}`);
        const isListed = definition.has(`${place}/${statusCode}`);
        const isJson = headers["content-type"]?.startsWith("application/json") === true;
        const wrong =
          isListed && isJson && definition.problemOf(JSON.parse(body), `${place}/${statusCode}/${json}`);
        if (!isListed && !isGeneral(statusCode)) violations.push(`${name}: ${statusCode} is not listed`);
        if (typeof wrong === "string") violations.push(`${name}: ${statusCode} ${wrong}`);
        if (statusCode >= 300 || operation.body === undefined) continue;
        const request = definition.problemOf(bodyOf(sent), operation.body.replace(/^#/, ""));
        if (request !== undefined) violations.push(`${name}: ${statusCode} although ${request}`);
      }
      expect(violations).toEqual([]);
    },
  );
});
