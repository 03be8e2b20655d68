import { afterAll, beforeAll, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { runNcs } from "../support/ncs.ts";
import { sharedService } from "../support/service.ts";
import { openSink, type TestSink } from "../support/sink.ts";
import { type HttpRequest, parseHttpFile, resolved } from "./http-file.ts";

const { stdout } = await runNcs(["requests", "--url", "http://127.0.0.1:3001"]);
const { variables, requests } = parseHttpFile(stdout);
const answers = new Map<string, unknown>();
let sink: TestSink;
let set: Readonly<Record<string, string>>;

beforeAll(async () => {
  sink = await openSink();
  // The sink answers 503, so that the delivery is still pending when it is cancelled.
  set = { ...variables, service: sharedService.url, sink: sink.urlOf({ status: 503 }) };
});
afterAll(() => sink.close());

/** Sends a request as the REST Client does. */
async function send({ name, method, url, headers, body }: HttpRequest): Promise<Response> {
  const filled = (text: string) => resolved(text, set, answers);
  const response = await fetch(filled(url), {
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, filled(value)])),
    ...(body === undefined ? {} : { body: filled(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (name !== undefined) answers.set(name, JSON.parse(text));
  return response;
}

test.each(requests.map((request) => [request.title, request] as const))(
  "a request that ncs requests prints gets the status and media type it names: %s",
  async (_, request) => {
    const [, status] = /Answers (\d+)/.exec(request.comments.join(" ")) ?? [];
    const response = await send(request);
    expect(`${response.status}`).toBe(status);
    const { Accept: accept } = request.headers;
    if (accept !== undefined) expect(response.headers.get("content-type")).toContain(accept);
  },
);

test("ncs requests prints a request for every endpoint, to the service that --url names", () => {
  expect(variables.service).toBe("http://127.0.0.1:3001");
  const missing = endpoints.filter((endpoint) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, ".+");
    const pattern = new RegExp(`^${endpoint.method} \\{\\{service\\}\\}${path}$`);
    return !requests.some(({ method, url }) => pattern.test(`${method} ${url}`));
  });
  expect(missing.map(({ id }) => id)).toEqual([]);
});
