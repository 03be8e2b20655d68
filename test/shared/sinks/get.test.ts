import { afterEach, expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { type GetOptions, get } from "../../../shared/sinks/get.ts";
import { parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import { certificate, closeSinks, httpSink, httpsSink } from "./sink-server.ts";

afterEach(closeSinks);

const allowed = parseAllowedNetworks("127.0.0.0/8:1-65535") ?? [];

async function read(url: string, options: Partial<GetOptions> = {}): Promise<string | undefined> {
  const body = await get({
    url,
    accept: "application/json",
    maxBytes: 1_000,
    maxMilliseconds: 60_000,
    allowed,
    runtimeApi: undefined,
    ...options,
  });
  if (!(body instanceof Error)) return body.toString();
  return "code" in body ? String(body.code) : body.name;
}

test("a read of keys returns the body of a 200, and sends what it accepts and who asks", async () => {
  const { port } = await httpSink(({ method, url, headers }, response) => {
    response.write(`${method} ${url} ${headers.accept} ${headers["user-agent"]} `);
    response.end(headers.host);
  });
  const place = `127.0.0.1:${port}`;
  expect(await read(`http://${place}/keys?a=1`)).toBe(
    `GET /keys?a=1 application/json network-capabilities-service/${packageJson.version} ${place}`,
  );
});

test("a read of keys verifies the certificate of an https address", async () => {
  const { port } = await httpsSink((_, response) => response.end("keys"));
  expect(await read(`https://127.0.0.1:${port}/`, { ca: certificate.cert })).toBe("keys");
  expect(await read(`https://127.0.0.1:${port}/`)).not.toBe("keys");
});

test("a read of keys connects to no address that is neither public nor allowed", async () => {
  const { port, connections } = await httpSink((_, response) => response.end("secret"));
  expect(await read(`http://127.0.0.1:${port}/`, { allowed: [] })).toBe("SINK");
  const byName = { allowed: [], resolve: async () => ["127.0.0.1"] };
  expect(await read(`https://keys.example.com:${port}/`, byName)).toBe("ADDRESS");
  expect(await read("http://169.254.169.254/latest/meta-data")).toBe("SINK");
  expect(connections()).toBe(0);
});

test("a read of keys gives up on a server that does not answer, or not to the end", async () => {
  const silent = await httpSink(() => {});
  const slow = await httpSink((_, response) => response.write("x"));
  for (const { port } of [silent, slow]) {
    expect(await read(`http://127.0.0.1:${port}/`, { maxMilliseconds: 200 })).toMatch(/OVERTIME|STALLED/);
  }
});
