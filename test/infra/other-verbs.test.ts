import { Compile, parse } from "velocityjs";
import { expect, test } from "vitest";
import * as z from "zod";
import { type OtherVerbs, otherVerbsOf } from "../../infra/gateway.ts";
import { originsPattern } from "../../infra/origins.ts";
import { GatewayError, type Reply } from "../../tools/local/gateway/gateway-responses.ts";
import { otherVerbsReply } from "../../tools/local/gateway/other-verbs.ts";
import {
  headerAsSent,
  headerOf,
  type ReceivedRequest,
  receive,
} from "../../tools/local/gateway/received-request.ts";
import { eachStage, pathOf, resourcesOf, settingsByStage } from "./template.ts";

/**
 * All media types are binary to this API, and templates need text. Without NEVER, a body for which there is no template
 * would be taken for what chooses the status.
 */
const mock = z.strictObject({
  Type: z.literal("MOCK"),
  ContentHandling: z.literal("CONVERT_TO_TEXT"),
  PassthroughBehavior: z.literal("NEVER"),
  RequestTemplates: z.record(z.string(), z.string()),
  IntegrationResponses: z.array(
    z.strictObject({
      StatusCode: z.string(),
      SelectionPattern: z.string(),
      ContentHandling: z.literal("CONVERT_TO_TEXT"),
      ResponseParameters: z.record(z.templateLiteral(["method.response.header.", z.string()]), z.string()),
      ResponseTemplates: z.strictObject({ "application/json": z.string() }),
    }),
  ),
});

const method = z.object({
  HttpMethod: z.string(),
  ResourceId: z.unknown(),
  Integration: z.looseObject({}),
  MethodResponses: z
    .array(
      z.strictObject({ StatusCode: z.string(), ResponseParameters: z.record(z.string(), z.literal(true)) }),
    )
    .default([]),
});

const headersOfMock = z.record(z.string(), z.string());

/** The only method of Java's `String` that the templates use. */
const javaMatches = {
  uid: "matches",
  match: ({ property }: { property: string }) => property === "matches",
  resolve: ({ context, params }: { context: unknown; params: unknown[] }) =>
    new RegExp(`^(?:${params[0]})$`).test(String(context)),
};

/** Renders a mapping template as API Gateway does: its text, and the headers that it overrides. */
function rendered(template: string, request: ReceivedRequest) {
  const header = {};
  const text = new Compile(parse(template), { customMethodHandlers: [javaMatches] }).render({
    context: { httpMethod: request.method, requestId: request.requestId, responseOverride: { header } },
    input: { params: () => ({ header: { get: (name: string) => headerAsSent(request, name) ?? "" } }) },
  });
  // Velocity leaves what it does not know in the text.
  expect(text).not.toContain("$");
  return { text: text.trim(), headers: headersOfMock.parse(header) };
}

/** What API Gateway answers by a mock integration; the type of its refusal where it has no template. */
function answerOf(integration: z.output<typeof mock>, request: ReceivedRequest): unknown {
  const type =
    headerOf(request, "content-type")?.split(";", 1)[0]?.trim().toLowerCase() || "application/json";
  const choosing = integration.RequestTemplates[type];
  if (choosing === undefined) return "UNSUPPORTED_MEDIA_TYPE";
  const { statusCode } = JSON.parse(rendered(choosing, request).text);
  const [chosen, ...others] = integration.IntegrationResponses.filter(({ SelectionPattern }) =>
    new RegExp(`^(?:${SelectionPattern})$`).test(String(statusCode)),
  );
  if (chosen === undefined || others.length > 0) return `not one response for ${statusCode}`;
  const { text, headers } = rendered(chosen.ResponseTemplates["application/json"], request);
  const fixed = Object.entries(chosen.ResponseParameters).map(([name, value]) => [
    name.replace("method.response.header.", ""),
    value === "context.requestId" ? request.requestId : value.replace(/^'(.*)'$/, "$1"),
  ]);
  return plain({
    status: Number(chosen.StatusCode),
    headers: Object.entries({ "content-type": "application/json", ...Object.fromEntries(fixed), ...headers }),
    body: text,
  });
}

/** A reply whose headers have no order, and names in lower case. */
function plain({ status, headers, body }: Pick<Reply, "status" | "headers" | "body">) {
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value]);
  return { status, headers: Object.fromEntries(lower), body };
}

function localAnswer(others: OtherVerbs, origins: string, request: ReceivedRequest): unknown {
  try {
    return plain(otherVerbsReply(others, origins, request));
  } catch (error) {
    if (error instanceof GatewayError) return error.type;
    throw error;
  }
}

const page = "http://localhost:5173";
const origins = [page, "https://evil.example", "http://localhost.evil.example", undefined];
const correlators = ["a-correlator", "not valid", "x".repeat(257), "", undefined];
const types = [
  undefined,
  "",
  "Application/JSON; charset=utf-8",
  "text/plain",
  "text/html",
  "application/xml",
];

/** Requests with each verb and each origin, correlator and type of a body, with names in both cases. */
const requests = ["OPTIONS", "PATCH"].flatMap((verb) => {
  const sent = (...headers: readonly (readonly [name: string, value: string | undefined])[]) =>
    receive({
      method: verb,
      url: "/",
      rawHeaders: headers.flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
      httpVersion: "1.1",
      socket: {},
    });
  const names = [
    ["origin", "x-correlator", "content-type"],
    ["Origin", "X-Correlator", "Content-Type"],
  ] as const;
  return names.flatMap(([originName, correlatorName, typeName]) => [
    ...origins.map((origin) => sent([originName, origin])),
    ...correlators.map((correlator) => sent([correlatorName, correlator], [originName, page])),
    ...types.map((type) => sent([typeName, type], [originName, page])),
  ]);
});

test.each(eachStage)(
  "API Gateway answers in %s to each verb that a path does not have as the local gateway does",
  (stage, from) => {
    const settings = settingsByStage[stage];
    const made = resourcesOf("AWS::ApiGateway::Method", method, from);
    for (const others of otherVerbsOf(settings)) {
      const found = made.find(
        ({ properties }) =>
          properties.HttpMethod === "ANY" && pathOf(properties.ResourceId, from) === others.path,
      );
      const { Integration, MethodResponses } = found?.properties ?? expect.fail(others.path);
      const integration = mock.parse(Integration);
      // CloudFormation refuses a response or a header that the method does not declare.
      const declared = integration.IntegrationResponses.map(({ StatusCode, ResponseParameters }) => ({
        StatusCode,
        ResponseParameters: Object.fromEntries(Object.keys(ResponseParameters).map((name) => [name, true])),
      }));
      expect(MethodResponses, others.path).toEqual(declared);
      for (const request of requests) {
        const told = `${others.path} ${request.method} ${JSON.stringify(request.headers)}`;
        const local = localAnswer(others, originsPattern(settings.corsOrigins), request);
        expect(answerOf(integration, request), told).toEqual(local);
      }
    }
  },
);
