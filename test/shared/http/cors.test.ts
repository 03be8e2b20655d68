import { afterEach, expect, test, vi } from "vitest";
import { endpoints } from "../../../functions/areas.ts";
import { originsPattern } from "../../../infra/origins.ts";
import type { Endpoint } from "../../../shared/endpoint.ts";
import { exposedHeaders, withCors } from "../../../shared/http/cors.ts";

afterEach(() => vi.unstubAllEnvs());

const allowed = "https://app.example";

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
