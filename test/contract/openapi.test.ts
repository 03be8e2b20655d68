import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { areas, endpoints } from "../../functions/areas.ts";
import { profileArea } from "../../functions/profile/area.ts";
import { authenticate } from "../../functions/profile/contract.ts";
import packageJson from "../../package.json" with { type: "json" };
import type { Area } from "../../shared/area.ts";
import { type Endpoint, failures, pathsOf } from "../../shared/endpoint.ts";
import { errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { endpointTable, withEndpointTable } from "../../tools/docs/endpoint-table.ts";
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

/** Whether an endpoint's request may name a sink. */
function isDelivered({ body }: Endpoint): boolean {
  return body !== undefined && "shape" in body && Object.hasOwn(members.parse(body.shape), "sink");
}

/** The first operation with a sink: the others lead to the same callback. */
const delivering = operations.findIndex(({ endpoint }) => isDelivered(endpoint));

describe("the OpenAPI document", () => {
  it("is the one on disk", async () => {
    const onDisk = await readFile(new URL("../../docs/openapi.json", import.meta.url), "utf8");
    expect(onDisk, "run npm run docs").toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it("is on disk without its aliases too, and otherwise the same", async () => {
    const canonical = openApiDocument(withoutAliases(areas), packageJson.version);
    const onDisk = await readFile(new URL("../../docs/openapi-canonical.json", import.meta.url), "utf8");
    expect(onDisk, "run npm run docs").toBe(`${JSON.stringify(canonical, null, 2)}\n`);
    const declared = new Set<string>(declarations.map(({ path }) => path));
    const kept = Object.entries(document.paths ?? {}).filter(([path]) => declared.has(path));
    expect(canonical).toEqual({ ...document, paths: Object.fromEntries(kept) });
  });

  it("has every path and alias, and no other", () => {
    const addresses = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    expect(addresses.sort()).toEqual(operations.map(({ address }) => address).sort());
  });

  it("names each operation once", () => {
    const names = operations.map(({ operation: { operationId } }) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it("describes the area of every operation", () => {
    const described = document.tags?.map(({ name }) => name);
    const used = new Set(operations.flatMap(({ operation: { tags } }) => tags));
    expect(described).toEqual([...used]);
  });

  it("names its components", () => {
    const {
      schemas = {},
      parameters,
      headers: headerComponents,
      securitySchemes,
    } = document.components ?? {};
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(["ErrorInfo", "XCorrelator", "Device", "QosProfile", "UserProfile", "KeySet"]),
    );
    expect(Object.keys(schemas).filter((name) => /^__schema|Output$/.test(name))).toEqual([]);
    expect(Object.keys(parameters ?? {})).toEqual(["XCorrelator", "AcceptEncoding"]);
    expect(Object.keys(headerComponents ?? {})).toEqual([
      "XRequestId",
      "XCorrelator",
      "WwwAuthenticate",
      "InsufficientScope",
      "NoStore",
      "Vary",
      "ContentEncoding",
      "RetryAfter",
      "RateLimitLimit",
      "RateLimitRemaining",
      "RateLimitReset",
    ]);
    expect(Object.keys(securitySchemes ?? {})).toEqual(["bearer", "sinkToken"]);
  });

  it("closes no object to further members", () => {
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  });

  it("refuses a body without an example", () => {
    const bare: Endpoint = { ...authenticate, responses: { 200: z.object({}) } };
    expect(() => openApiDocument([{ ...profileArea, endpoints: [bare] }], "1.0.0")).toThrow(
      `the response 200 of ${bare.id} has no example`,
    );
  });
});

describe.each(operations)("$address", ({ endpoint, isAlias, operation: described }) => {
  const failed = Object.entries(described.responses).filter(([status]) => !(status in endpoint.responses));

  it("has a response for each declared success status and for the statuses of its codes", () => {
    const codes = [...endpoint.errors, ...failures];
    const statuses = new Set([
      ...Object.keys(endpoint.responses),
      ...codes.map((code) => `${errorRow(code).status}`),
    ]);
    expect(Object.keys(described.responses)).toEqual([...statuses].sort());
  });

  it.each([...endpoint.errors, ...failures])(
    "shows %s with the status and message of the catalogue",
    (code) => {
      const { status, message } = errorRow(code);
      const response = described.responses[status];
      const body = response?.content["application/json"];
      expect(body?.examples[code]?.value).toEqual({ status, code, message });
      expect(response?.description).toContain(`\`${code}\`: ${message}`);
      const { properties } = errorSchema.parse(body?.schema);
      expect(properties.status.const).toBe(status);
      expect(properties.code.enum).toContain(code);
    },
  );

  it("shows no code that it cannot answer with", () => {
    const shown = failed.flatMap(([, response]) =>
      Object.keys(response.content["application/json"]?.examples ?? {}),
    );
    expect(shown.sort()).toEqual([...endpoint.errors, ...failures].sort());
  });

  it("has error examples of the shape of an error", () => {
    for (const [, response] of failed) {
      for (const { value } of Object.values(response.content["application/json"]?.examples ?? {})) {
        expect(z.strictObject(errorBody.shape).parse(value)).toEqual(value);
      }
    }
  });

  it("has an example of the request that its schema accepts whole", () => {
    const shown = Object.values(described.requestBody?.content["application/json"]?.examples ?? {});
    expect(shown.length > 0).toBe(endpoint.body !== undefined);
    for (const { value } of shown) {
      const accepted = members.parse(endpoint.body?.parse(value));
      expect(Object.keys(accepted)).toEqual(expect.arrayContaining(Object.keys(members.parse(value))));
    }
  });

  it.each(Object.entries(endpoint.responses))(
    "has an example of the response %s that its schema accepts whole",
    (status, schema) => {
      const { mediaType = "application/json" } = endpoint;
      const [type = "", ...others] = Object.keys(described.responses[status]?.content ?? {});
      expect(others).toEqual(endpoint.formats?.[Number(status)] ?? []);
      expect([type, `${type}; ${mediaType.split("; ")[1]}`]).toContain(mediaType);
      const shown = Object.values(described.responses[status]?.content[type]?.examples ?? {});
      expect(shown).not.toEqual([]);
      for (const { value } of shown) expect(schema.parse(value)).toEqual(value);
    },
  );

  it("has an example in each further format that the schema of the format accepts whole", () => {
    const declared: readonly Area[] = areas;
    const { formats = {} } =
      declared.find(({ endpoints: own }) => own.some(({ id }) => id === endpoint.id)) ?? {};
    for (const [status, mediaTypes] of Object.entries(endpoint.formats ?? {})) {
      for (const mediaType of mediaTypes) {
        const shown = Object.values(described.responses[status]?.content[mediaType]?.examples ?? {});
        expect(shown).not.toEqual([]);
        for (const { value } of shown) expect(formats[mediaType]?.parse(value)).toEqual(value);
      }
    }
  });

  it("has the headers of each response", () => {
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
  });

  it("takes the parameters of path and query, the headers that are read, and the correlator", () => {
    expect(described.parameters).toEqual([
      ...Object.keys(endpoint.parameters ?? {}).map((name) => ({ name, in: "path", required: true })),
      ...Object.keys(endpoint.query ?? {}).map((name) => ({ name, in: "query", required: false })),
      ...Object.keys(endpoint.requestHeaders ?? {}).map((name) => ({ name, in: "header", required: false })),
      { name: "x-correlator", in: "header", required: false },
      ...(endpoint.streamed !== undefined || endpoint.headers?.vary !== undefined
        ? [{ name: "accept-encoding", in: "header", required: false }]
        : []),
    ]);
  });

  it("asks for the scope, where there is one", () => {
    const { scope } = endpoint;
    expect(described.security).toEqual(scope === null ? [] : [{ bearer: [] }]);
    expect(described["x-required-scopes"]).toEqual(scope === null ? undefined : [scope]);
    if (scope !== null) expect(described.description).toContain(`\`${scope}\``);
  });

  it("that has a sink says how a request is repeated, what the sink gets, and where to follow it", () => {
    if (!isDelivered(endpoint)) return;
    expect(described.parameters.map(({ name }) => name)).toContain("Idempotency-Key");
    expect(described.callbacks).toEqual(operations[delivering]?.operation.callbacks);
    expect(Object.keys(described.callbacks ?? {})).toEqual(["deliverPopulationDensity"]);
    expect(described.responses["202"]?.links).toHaveProperty("operation.operationId", "getOperation");
  });

  it("links its responses to operations that there are", () => {
    for (const [status, links] of Object.entries(endpoint.links ?? {})) {
      expect(described.responses[status]?.links).toEqual(links);
      for (const { operationId, parameters } of Object.values(links)) {
        const linked = declarations.find((one) => one.operationId === operationId);
        expect(Object.keys(linked?.parameters ?? {})).toEqual(Object.keys(parameters));
      }
    }
  });

  it("says of an alias whose it is", () => {
    const said = described.description.includes(
      `The same operation as \`${endpoint.method} ${endpoint.path}\``,
    );
    expect(said).toBe(isAlias);
    expect(described.operationId === endpoint.operationId).toBe(!isAlias);
    expect(described["x-alias-of"]).toBe(isAlias ? endpoint.operationId : undefined);
  });
});

describe("the endpoint table", () => {
  const table = endpointTable(declarations);

  it("has a row with the addresses, the summary and the scope of every endpoint", () => {
    const rows = table.split("\n").slice(2);
    expect(rows).toHaveLength(declarations.length);
    for (const [index, { method, path, aliases, summary, scope }] of declarations.entries()) {
      for (const part of [`${method} ${path}`, ...aliases, summary, scope ?? "none"]) {
        expect(rows[index]).toContain(part);
      }
    }
  });

  it("replaces what stands between its lines, and nothing else", () => {
    const before = "# Title\n\n<!-- endpoints -->\nold\n<!-- /endpoints -->\n\nText.\n";
    const after = withEndpointTable(before, declarations);
    expect(after).toBe(`# Title\n\n<!-- endpoints -->\n\n${table}\n\n<!-- /endpoints -->\n\nText.\n`);
    expect(withEndpointTable(after, declarations)).toBe(after);
  });

  it.each(["", "<!-- endpoints -->\n", "<!-- /endpoints -->\n<!-- endpoints -->\n"])(
    "refuses a text without both lines in order: %j",
    (text) => {
      expect(() => withEndpointTable(text, declarations)).toThrow(
        "<!-- endpoints --> and <!-- /endpoints -->",
      );
    },
  );
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
