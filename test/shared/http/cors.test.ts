import { afterEach, expect, test, vi } from "vitest";
import { endpoints } from "../../../functions/areas.ts";
import { originsPattern } from "../../../infra/origins.ts";
import type { Endpoint } from "../../../shared/endpoint.ts";
import { exposedHeaders, withCors } from "../../../shared/http/cors.ts";

afterEach(() => vi.unstubAllEnvs());

const allowed = "https://app.example";

test("a response adds no header while no origin is allowed", () => {
  for (const list of [undefined, ""]) {
    vi.stubEnv("CORS_ORIGINS", list);
    expect(withCors({ link: "<a>" }, allowed)).toEqual({ link: "<a>" });
  }
});

test("a response names only the origin of the request when it is allowed", () => {
  vi.stubEnv("CORS_ORIGINS", originsPattern(["https://other.example", allowed]));
  expect(withCors({ link: "<a>" }, allowed)).toEqual({
    link: "<a>",
    vary: "origin",
    "access-control-allow-origin": allowed,
    "access-control-expose-headers": exposedHeaders,
  });
});

test.each(["https://evil.example", "null", `${allowed}.evil.example`, undefined])(
  "a response adds nothing but vary for the origin %s",
  (origin) => {
    vi.stubEnv("CORS_ORIGINS", originsPattern([allowed]));
    expect(withCors({}, origin)).toEqual({ vary: "origin" });
    expect(withCors({ vary: "accept-encoding" }, origin)).toEqual({ vary: "accept-encoding, origin" });
  },
);

test("pages may read every header that an endpoint declares", () => {
  const safelisted = [
    "cache-control",
    "content-language",
    "content-length",
    "content-type",
    "expires",
    "vary",
  ];
  const declared = ([...endpoints] as Endpoint[]).flatMap(({ headers = {}, replyHeaders = {} }) => [
    ...Object.keys(headers),
    ...Object.values(replyHeaders).flatMap((one) => Object.keys(one)),
  ]);
  const readable = new Set([...exposedHeaders.split(","), ...safelisted]);
  expect(declared.length).toBeGreaterThan(2);
  expect(declared.filter((name) => !readable.has(name.toLowerCase()))).toEqual([]);
});
