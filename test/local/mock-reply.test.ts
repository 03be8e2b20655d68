import { expect, test } from "vitest";
import type { GatewayError } from "../../tools/local/gateway/gateway-responses.ts";
import { mockReply } from "../../tools/local/gateway/mock-reply.ts";
import { receive } from "../../tools/local/gateway/received-request.ts";
import { mockIntegration, mockSchema } from "../../tools/local/template/mock-integration.ts";

const declaration = {
  Type: "MOCK",
  ContentHandling: "CONVERT_TO_TEXT",
  PassthroughBehavior: "NEVER",
  RequestTemplates: {
    "application/json":
      '#if($context.httpMethod == "OPTIONS")\n{"statusCode": 204}\n#else\n{"statusCode": 405}\n#end',
  },
  IntegrationResponses: [
    {
      StatusCode: "405",
      SelectionPattern: "405",
      ContentHandling: "CONVERT_TO_TEXT",
      ResponseParameters: { "method.response.header.Allow": "'GET'" },
      ResponseTemplates: { "application/json": '{"refused":true}' },
    },
    {
      StatusCode: "204",
      SelectionPattern: "204",
      ContentHandling: "CONVERT_TO_TEXT",
      ResponseParameters: {},
      ResponseTemplates: {
        "application/json": [
          '#set($origin = $input.params().header.get("origin"))',
          '#if($origin && $origin.matches("https://[a-z]+[.]example"))',
          "#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)",
          "#end",
        ].join("\n"),
      },
    },
  ],
};
const responses = [
  { StatusCode: 405, ResponseParameters: { "method.response.header.Allow": true } },
  { StatusCode: 204, ResponseParameters: {} },
];

const integrationOf = (changed: Record<string, unknown> = {}) =>
  mockIntegration("Other", mockSchema.parse({ ...declaration, ...changed }), responses);
const request = (method: string, ...rawHeaders: string[]) =>
  receive({ method, url: "/things", rawHeaders, httpVersion: "1.1", socket: {} });

test("mockReply sets headers that the template overrides, and its matches() compares the whole text", async () => {
  const overridden = async (origin: string) =>
    new Map((await mockReply(integrationOf(), request("OPTIONS", "origin", origin))).headers).get(
      "access-control-allow-origin",
    );
  expect(await overridden("https://app.example")).toBe("https://app.example");
  expect(await overridden("https://app.example.evil")).toBeUndefined();
  expect((await mockReply(integrationOf(), request("OPTIONS"))).body).toBe("");
});

test("mockReply refuses a media type without a template and accepts one with parameters", async () => {
  await expect(mockReply(integrationOf(), request("PUT", "Content-Type", "text/csv"))).rejects.toThrow(
    expect.objectContaining({ type: "UNSUPPORTED_MEDIA_TYPE" }),
  );
  const typed = request("PUT", "Content-Type", "application/json; charset=utf-8");
  expect((await mockReply(integrationOf(), typed)).status).toBe(405);
});

test.each(["not JSON", '{"statusCode": 500}', '{"statusCode": "$context.identity.sourceIp"}', "$input.body"])(
  "mockReply fails when the template leads to no response: %s",
  async (template) => {
    const broken = integrationOf({ RequestTemplates: { "application/json": template } });
    await expect(mockReply(broken, request("PUT"))).rejects.toThrow(
      expect.objectContaining({ type: "API_CONFIGURATION_ERROR" } satisfies Partial<GatewayError>),
    );
  },
);

test("mockIntegration refuses a response or header that the method does not declare", () => {
  const parsed = mockSchema.parse(declaration);
  const [first, second] = responses;
  expect(() => mockIntegration("Other", parsed, first === undefined ? [] : [first])).toThrow(
    "Other declares no response 204",
  );
  expect(() =>
    mockIntegration("Other", parsed, [
      { StatusCode: 405, ResponseParameters: {} },
      ...(second === undefined ? [] : [second]),
    ]),
  ).toThrow("Other does not declare method.response.header.Allow");
});

test.each([
  { ContentHandling: undefined },
  { PassthroughBehavior: "WHEN_NO_MATCH" },
  { CacheNamespace: "x" },
])(
  "mockSchema refuses what API Gateway would answer with 500 and what is not supported locally: %j",
  (changed) => {
    expect(mockSchema.safeParse({ ...declaration, ...changed }).success).toBe(false);
  },
);
