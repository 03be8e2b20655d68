import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { handler as publish } from "../../functions/console/publish.ts";
import { configuration } from "../../infra/variables.ts";
import { localLogStream, setting } from "../../shared/environment.ts";
import { readEventFile } from "../../tools/event-files.ts";
import { captureOutput } from "../support/pipeline.ts";
import { sharedPages } from "../support/service.ts";

let handler: typeof publish;
beforeAll(async () => {
  vi.stubEnv("PAGES_FOLDER", await sharedPages());
  ({ handler } = await import("../../functions/console/publish.ts"));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The answer of the handler to an event. */
async function answerTo(file: string) {
  const { event } = await readEventFile(file);
  const output = captureOutput();
  const context = { getRemainingTimeInMillis: () => 10_000 };
  const { body, headers = {} } = await handler(event, context).finally(output.stop);
  return { body, headers };
}

test.each(["page", "reference"])(
  "GET of the console's %s returns links that begin at the path of its stage",
  async (name) => {
    const { body } = await answerTo(`events/console/publish.200-${name}.json`);

    expect(body).toContain('<base href="/live/">');
  },
);

test.each([
  ["a deployed stage", "2026/11/28/[12]0a1b", undefined, "max-age=31536000"],
  ["npm start", localLogStream, undefined, undefined],
  ["sam local", "$LATEST", "true", undefined],
])(
  "GET of the console's page of %s, in the log stream %s, tells browsers to keep to https only if it is deployed",
  async (_, stream, sam, kept) => {
    vi.stubEnv("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001");
    vi.stubEnv("AWS_LAMBDA_LOG_STREAM_NAME", stream);
    vi.stubEnv("AWS_SAM_LOCAL", sam);
    const { headers } = await answerTo("events/console/publish.200-page.json");

    expect(headers["strict-transport-security"]).toBe(kept);
  },
);

test("GET of the console's page names no map and no other origin without MAP_STYLE", async () => {
  const { body, headers } = await answerTo("events/console/publish.200-page.json");

  expect(body).toContain('<meta name="map-style" content="">');
  expect(headers["content-security-policy"]).toContain("connect-src 'self';");
});

test("GET of the console's page allows only requests for data to the origin of MAP_STYLE", async () => {
  vi.stubEnv("MAP_STYLE", "https://tiles.example.com/style.json?key=1&v=2");
  const { body, headers } = await answerTo("events/console/publish.200-page.json");

  expect(body).toContain('content="https://tiles.example.com/style.json?key=1&#38;v=2"');
  const directives = String(headers["content-security-policy"]).split("; ");
  expect(directives).toContain("connect-src 'self' https://tiles.example.com");
  expect(directives.filter((directive) => directive.includes("tiles.example.com"))).toHaveLength(1);
});

test.each([
  "tiles.example.com",
  "http://tiles.example.com",
  "https://a.example; script-src *",
  "https://a b.example",
])("MAP_STYLE is refused when it is %s, which is no https URL", (address) => {
  expect(() => setting(configuration.MAP_STYLE, { MAP_STYLE: address })).toThrow(
    "MAP_STYLE must be empty or the https URL",
  );
});
