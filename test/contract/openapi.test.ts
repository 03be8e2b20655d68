import { expect, test } from "vitest";
import * as z from "zod";
import { areas, endpoints } from "../../functions/areas.ts";
import { profileArea } from "../../functions/profile/area.ts";
import { authenticate } from "../../functions/profile/contract.ts";
import packageJson from "../../package.json" with { type: "json" };
import type { ServiceArea } from "../../shared/area.ts";
import { type Endpoint, failures, pathsOf } from "../../shared/endpoint.ts";
import { errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { openApiDocument, withoutAliases } from "../../tools/docs/openapi.ts";

const declarations: readonly Endpoint[] = endpoints;
const document = openApiDocument(areas, packageJson.version);

const members = z.record(z.string(), z.unknown());
const headers = z.record(z.string(), z.object({ schema: members }));
const examples = z.record(z.string(), z.object({ value: z.unknown() }));
const content = z.record(z.string(), z.object({ schema: members, examples }));
const errorSchema = z.object({
  properties: z.object({
    status: z.object({ type: z.literal("integer"), const: z.number() }),
    code: z.object({ enum: z.array(z.string()) }),
  }),
  required: z.tuple([z.literal("status"), z.literal("code"), z.literal("message")]),
});

/** What the tests read of an operation whose references are resolved. */
const operation = z.object({
  operationId: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  "x-required-scopes": z.array(z.string()).optional(),
  "x-alias-of": z.string().optional(),
  "x-camara-release": z.string().optional(),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), required: z.boolean().default(false) })),
  requestBody: z.object({ required: z.literal(true), content }).optional(),
  callbacks: members.optional(),
  responses: z.record(
    z.string(),
    z.object({ description: z.string(), headers, content, links: members.optional() }),
  ),
});

const paths = z.record(z.string(), z.record(z.string(), operation)).parse(resolved(document.paths));

/** Every operation of the document, beside the endpoint it must come from. */
const operations = declarations.flatMap((endpoint) =>
  pathsOf(endpoint).map((path, index) => {
    const found = paths[path]?.[endpoint.method.toLowerCase()];
    if (found === undefined) throw new Error(`the document lacks ${endpoint.method} ${path}`);
    return { address: `${endpoint.method} ${path}`, isAlias: index > 0, endpoint, operation: found };
  }),
);

type Operation = (typeof operations)[number];

/** Whether an endpoint may answer later, to a sink. */
function isDelivered({ responses }: Endpoint): boolean {
  return Object.hasOwn(responses, "202");
}

const addressed = operations.map((one) => [one.address, one] as const);

test("the OpenAPI document without aliases differs in nothing else", () => {
  const canonical = openApiDocument(withoutAliases(areas), packageJson.version);
  const declared = new Set<string>(declarations.map(({ path }) => path));
  const kept = Object.entries(document.paths ?? {}).filter(([path]) => declared.has(path));
  // Schemas of releases are of aliases alone.
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(
    ([name]) => name in (canonical.components?.schemas ?? {}),
  );
  expect(canonical).toEqual({
    ...document,
    paths: Object.fromEntries(kept),
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  });
});

test("the OpenAPI document has every path and alias, and no other", () => {
  const addresses = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(addresses.sort()).toEqual(operations.map(({ address }) => address).sort());
});

test("the OpenAPI document names each operation once", () => {
  const names = operations.map(({ operation: { operationId } }) => operationId);
  expect(new Set(names).size).toBe(names.length);
});

test("the OpenAPI document names each operation by a verb and a noun, in at most 48 characters", () => {
  const verbs = "authenticate|cancel|check|create|delete|get|list|redeliver|retrieve|summarize";
  for (const { operation } of operations) {
    expect(operation.operationId).toMatch(new RegExp(`^(?:${verbs})[A-Z][A-Za-z0-9]+$`));
    expect(operation.operationId.length).toBeLessThanOrEqual(48);
  }
});

test("the OpenAPI document describes the area of every operation, and no other", () => {
  const described = document.tags?.map(({ name }) => name);
  const used = new Set(operations.flatMap(({ operation: { tags } }) => tags));
  expect(described).toEqual([...used]);
});

test("the OpenAPI document gives every component schema a name of its own", () => {
  const names = Object.keys(document.components?.schemas ?? {});
  expect(names.filter((name) => /^__schema|Output$/.test(name))).toEqual([]);
});

test("the OpenAPI document closes no object to further members", () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
});

test("openApiDocument refuses a response without an example", () => {
  const bare: Endpoint = { ...authenticate, responses: { 200: z.object({}) } };
  expect(() => openApiDocument([{ ...profileArea, endpoints: [bare] }], "1.0.0")).toThrow(
    `the response 200 of ${bare.id} has no example`,
  );
});

/** The responses of an operation that are errors, by their status. */
const failedOf = ({ endpoint, operation: { responses } }: Operation) =>
  Object.entries(responses).filter(([status]) => !(status in endpoint.responses));

test.each(addressed)(
  "%s is described with a response for each of its statuses",
  (_, { endpoint, operation: described }) => {
    const codes = [...endpoint.errors, ...failures];
    const statuses = new Set([
      ...Object.keys(endpoint.responses),
      ...codes.map((code) => `${errorRow(code).status}`),
    ]);
    expect(Object.keys(described.responses)).toEqual([...statuses].sort());
  },
);

test.each(addressed)(
  "%s is described with the status and message of each code",
  (_, { endpoint, operation: described }) => {
    for (const code of [...endpoint.errors, ...failures]) {
      const { status, message } = errorRow(code);
      const body = described.responses[status]?.content["application/json"];
      const value = z.strictObject(errorBody.shape).parse(body?.examples[code]?.value);
      expect(value).toEqual({ status, code, message });
      const { properties } = errorSchema.parse(body?.schema);
      expect(properties.status.const).toBe(status);
      expect(properties.code.enum).toContain(code);
    }
  },
);

test.each(addressed)("%s is described with no code that it cannot return", (_, one) => {
  const shown = failedOf(one).flatMap(([, response]) =>
    Object.keys(response.content["application/json"]?.examples ?? {}),
  );
  expect(shown.sort()).toEqual([...one.endpoint.errors, ...failures].sort());
});

test.each(addressed)(
  "%s has an example request that its schema accepts",
  (_, { endpoint, operation: described }) => {
    const shown = Object.values(described.requestBody?.content["application/json"]?.examples ?? {});
    expect(shown.length > 0).toBe(endpoint.body !== undefined);
    for (const { value } of shown) {
      const accepted = members.parse(endpoint.body?.parse(value));
      expect(Object.keys(accepted)).toEqual(expect.arrayContaining(Object.keys(members.parse(value))));
    }
  },
);

test.each(addressed)(
  "%s has an example of each success that its schema accepts",
  (_, { endpoint, operation: described }) => {
    const { mediaType = "application/json" } = endpoint;
    for (const [status, schema] of Object.entries(endpoint.responses)) {
      const [type = "", ...others] = Object.keys(described.responses[status]?.content ?? {});
      expect(others).toEqual(endpoint.formats?.[Number(status)] ?? []);
      expect([type, `${type}; ${mediaType.split("; ")[1]}`]).toContain(mediaType);
      const shown = Object.values(described.responses[status]?.content[type]?.examples ?? {});
      expect(shown).not.toEqual([]);
      for (const { value } of shown) expect(schema.parse(value)).toEqual(value);
    }
  },
);

test.each(addressed)(
  "%s has an example in each format that the format's schema accepts",
  (_, { endpoint, operation: described }) => {
    const declared: readonly ServiceArea[] = areas;
    const { formats = {} } =
      declared.find(({ endpoints: own }) => own.some(({ id }) => id === endpoint.id)) ?? {};
    for (const [status, mediaTypes] of Object.entries(endpoint.formats ?? {})) {
      for (const mediaType of mediaTypes) {
        const shown = Object.values(described.responses[status]?.content[mediaType]?.examples ?? {});
        expect(shown).not.toEqual([]);
        for (const { value } of shown)
          expect(formats[endpoint.operationId]?.[mediaType]?.parse(value)).toEqual(value);
      }
    }
  },
);

test.each(addressed)(
  "%s is described with the headers of each response",
  (_, { endpoint, operation: described }) => {
    const canBeCompressed = endpoint.streamed !== undefined || endpoint.headers?.vary !== undefined;
    const isCompressed = (status: string) => status === "200" && canBeCompressed;
    const rateLimit = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
    for (const [status, response] of Object.entries(described.responses)) {
      expect(Object.keys(response.headers)).toEqual([
        "x-correlator",
        "x-request-id",
        ...(status in endpoint.responses && endpoint.scope !== null ? rateLimit : []),
        ...(status in endpoint.responses && endpoint.headers?.["cache-control"] !== undefined
          ? []
          : ["cache-control"]),
        ...(isCompressed(status) ? ["vary", "content-encoding"] : []),
        ...(status in endpoint.responses
          ? Object.keys(endpoint.headers ?? {}).filter((one) => one !== "vary")
          : []),
        ...Object.keys(endpoint.replyHeaders?.[Number(status)] ?? {}),
        ...(status === "406" ? ["vary"] : []),
        ...(status === "401" || status === "403" ? ["WWW-Authenticate"] : []),
        ...(status === "429" || status === "503" ? ["Retry-After"] : []),
        ...(status in endpoint.responses || status === "401" ? [] : rateLimit),
      ]);
    }
    for (const [name, value] of Object.entries(endpoint.headers ?? {})) {
      if (name === "vary") continue;
      expect(described.responses["200"]?.headers[name]?.schema).toEqual({ type: "string", const: value });
    }
  },
);

test.each(addressed)(
  "%s is described with its parameters, request headers and correlator",
  (_, { endpoint, operation: described }) => {
    expect(described.parameters).toEqual([
      ...Object.keys(endpoint.parameters ?? {}).map((name) => ({ name, in: "path", required: true })),
      ...Object.keys(endpoint.query ?? {}).map((name) => ({ name, in: "query", required: false })),
      ...Object.keys(endpoint.requestHeaders ?? {}).map((name) => ({ name, in: "header", required: false })),
      { name: "x-correlator", in: "header", required: false },
      ...(endpoint.streamed !== undefined || endpoint.headers?.vary !== undefined
        ? [{ name: "accept-encoding", in: "header", required: false }]
        : []),
    ]);
  },
);

test.each(addressed)(
  "%s is described with its scope, if it has one",
  (_, { endpoint, operation: described }) => {
    const { scope } = endpoint;
    expect(described.security).toEqual(scope === null ? [] : [{ bearer: [] }, { openId: [scope] }]);
    expect(described["x-required-scopes"]).toEqual(scope === null ? undefined : [scope]);
  },
);

test.each(addressed.filter(([, { endpoint }]) => isDelivered(endpoint)))(
  "%s is described with its idempotency key, its callback and the operation to poll",
  (_, { operation: described }) => {
    expect(described.parameters.map(({ name }) => name)).toContain("Idempotency-Key");
    expect(Object.keys(described.callbacks ?? {})).toEqual(["deliverPopulationDensity"]);
    expect(described.responses["202"]?.links).toHaveProperty("operation.operationId", "getDensityOperation");
  },
);

test("every operation with a sink is described with the same callback", () => {
  const [first, ...others] = operations.filter(({ endpoint }) => isDelivered(endpoint));
  for (const { operation: described } of others) {
    expect(described.callbacks).toEqual(first?.operation.callbacks);
  }
});

test.each(addressed)(
  "%s links its responses to existing operations",
  (_, { endpoint, operation: described }) => {
    for (const [status, links] of Object.entries(endpoint.links ?? {})) {
      expect(described.responses[status]?.links).toEqual(links);
      for (const { operationId, parameters } of Object.values(links)) {
        const linked = declarations.find((one) => one.operationId === operationId);
        expect(Object.keys(linked?.parameters ?? {})).toEqual(Object.keys(parameters));
      }
    }
  },
);

test.each(addressed)("%s is described as an alias exactly if it is one", (_, one) => {
  const { endpoint, isAlias, operation: described } = one;
  expect(described.operationId === endpoint.operationId).toBe(!isAlias);
  expect(described["x-alias-of"]).toBe(isAlias ? endpoint.operationId : undefined);
  expect(described["x-camara-release"]).toBe(isAlias ? endpoint.release?.name : undefined);
  if (isAlias) expect(described.description).toContain(endpoint.release?.differences ?? "another address");
});

/** A part of the document with each reference replaced by what it refers to. */
function resolved(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(resolved);
  if (typeof part !== "object" || part === null) return part;
  const { $ref, ...own } = members.parse(part);
  const beside = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, resolved(value)]));
  return typeof $ref === "string" ? { ...members.parse(resolved(target($ref))), ...beside } : beside;
}

function target(pointer: string): unknown {
  const names = pointer.replace(/^#\//, "").split("/");
  return names.reduce<unknown>((part, name) => {
    const parent = members.parse(part);
    if (!Object.hasOwn(parent, name)) throw new Error(`nothing at ${pointer}`);
    return parent[name];
  }, document);
}
