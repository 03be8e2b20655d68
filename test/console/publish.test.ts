import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { sharedPages, sharedService } from "../support/service.ts";

const folder = await sharedPages();
const url = sharedService.url;
const assets = Object.entries(
  z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(folder, "assets.json"), "utf8"))),
);

/** The bytes of all pieces of the ground, of which a browser loads a few, and of everything else. */
const maxBytes = { pieces: 5_000_000, others: 1_200_000 } as const;

const isPiece = (name: string) => name.startsWith("ground.");
/** All assets but the pieces of the ground, and one of those. */
const served = assets.filter(([name]) => !isPiece(name) || name.startsWith("ground.1,15-"));

describe.each(["/", "/reference"])("GET %s", (path) => {
  test(`GET ${path} returns 200 without a token, and a page that loads its own files only`, async () => {
    const response = await fetch(`${url}${path}`);
    const page = await response.text();

    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(page).toContain('<base href="/">');
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|javascript:/);
    const loaded = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, name]) => name ?? "");
    expect(loaded.length).toBeGreaterThan(3);
    for (const name of loaded) expect(assets.map(([asset]) => `assets/${asset}`)).toContain(name);
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  test(`GET ${path} allows the browser to load from this origin only`, async () => {
    const { headers } = await fetch(`${url}${path}`);
    const policy = headers.get("content-security-policy") ?? "";

    expect(policy.split("; ").sort()).toEqual([
      "base-uri 'self'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data: blob:",
      "script-src 'self'",
      "style-src 'self'",
      "worker-src 'self'",
    ]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test(`GET ${path} returns an x-correlator and an x-request-id`, async () => {
    const { headers } = await fetch(`${url}${path}`, { headers: { "x-correlator": "console-page" } });

    expect(headers.get("x-correlator")).toBe("console-page");
    expect(headers.get("x-request-id")).toMatch(/^[\da-f-]{36}$/);
  });
});

test("GET /llms.txt returns every operation and the first requests, with the address that was asked", async () => {
  const response = await fetch(`${url}/llms.txt`);
  const text = await response.text();

  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  for (const { operationId, method, path } of endpoints) {
    expect(text).toContain(`- \`${method} ${path}\` (${operationId}): `);
  }
  expect(text).toContain(`SERVICE=${url}\n`);
  expect(text).not.toMatch(/\{address\}|127\.0\.0\.1:3000/);
  const linked = [...text.matchAll(/\]\((\S+)\)/g)].map(([, address = ""]) => address);
  const statuses = await Promise.all(linked.map(async (address) => (await fetch(address)).status));
  expect(statuses).toEqual([200, 200, 200, 200]);
});

describe("GET /assets/{name}", () => {
  test("the pieces of the ground take at most 5 MB with gzip, and all other assets at most 1.2 MB", () => {
    const files = readdirSync(join(folder, "assets"));
    const bytesOf = (names: readonly string[]) =>
      names.reduce((sum, name) => sum + statSync(join(folder, "assets", name)).size, 0);

    expect(files.sort()).toEqual(assets.map(([name]) => `${name}.gz`).sort());
    expect(bytesOf(files.filter(isPiece))).toBeLessThanOrEqual(maxBytes.pieces);
    expect(bytesOf(files.filter((name) => !isPiece(name)))).toBeLessThanOrEqual(maxBytes.others);
  });

  test.each(served)(
    "GET /assets/%s returns the built file, cacheable, in an accepted encoding",
    async (name, type) => {
      const built = gunzipSync(readFileSync(join(folder, "assets", `${name}.gz`))).toString("utf8");
      const ask = async (coding: string) => {
        const response = await fetch(`${url}/assets/${name}`, { headers: { "accept-encoding": coding } });
        const { headers } = response;
        return { coding: headers.get("content-encoding"), headers, text: await response.text() };
      };
      const [compressed, plain] = [await ask("gzip"), await ask("identity")];

      expect([compressed.coding, plain.coding]).toEqual(["gzip", null]);
      expect(compressed.text === built && plain.text === built).toBe(true);
      expect(compressed.headers.get("content-type")).toBe(type);
      expect(compressed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(compressed.headers.get("vary")).toBe("accept-encoding");
      expect(compressed.headers.get("content-security-policy")).toContain("default-src 'none'");
    },
  );

  test.each([
    "main.js",
    "index.html",
    "assets.json",
    "..%2Findex.html",
    "..%2F..%2Findex.mjs",
    "%00",
    "toString",
    "__proto__",
    "constructor",
  ])("GET /assets/%s returns 404 for what is no asset", async (name) => {
    const response = await fetch(`${url}/assets/${name}`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("the style sheets of the console load nothing from another host", () => {
    const named = assets.flatMap(([name]) => {
      const text = gunzipSync(readFileSync(join(folder, "assets", `${name}.gz`))).toString("utf8");
      return name.endsWith(".css")
        ? [...text.matchAll(/(?:@import|url\()\s*["']?((?:https?:)?\/\/[^"')]+)/g)]
        : [];
    });
    expect(named.map(([, address]) => address)).toEqual([]);
  });
});
