import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { afterEach, expect, test } from "vitest";
import { AttemptTimer, defaultLimits } from "../../../shared/sinks/attempt-timer.ts";
import { firstConnected } from "../../../shared/sinks/connection.ts";
import { parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import type { PostOptions } from "../../../shared/sinks/post.ts";
import { resolveName } from "../../../shared/sinks/resolve-name.ts";
import { parseSink } from "../../../shared/sinks/sink-url.ts";
import { localSinks } from "../../../tools/local/demo-service.ts";
import { type NameServer, openNameServer } from "../../support/name-server.ts";
import {
  answering,
  bodyWith,
  certificate,
  closeSinks,
  delivered,
  httpSink,
  httpsSink,
  listen,
  postTo,
  short,
} from "./sink-server.ts";

const nameServers: NameServer[] = [];
afterEach(async () => {
  await Promise.all([closeSinks(), ...nameServers.splice(0).map((server) => server.close())]);
});

async function nameServer(names: Parameters<typeof openNameServer>[0]): Promise<NameServer> {
  const server = await openNameServer(names);
  nameServers.push(server);
  return server;
}

const sink = "https://sink.example.com";
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);
const ca = certificate.cert;
const refused = { outcome: "refused", cause: "ADDRESS", sentWhole: false };

test.each([["10.0.0.1"], ["not an address"]])(
  "an attempt refuses a name with the address %j among others, and connects to none of them",
  async (address) => {
    const { port, connections } = await httpsSink(answering(200));
    for (const addresses of [[address], ["127.0.0.1", "8.8.8.8", address], [address, "127.0.0.1"]]) {
      const { state, body } = bodyWith(3);
      const ended = await postTo(port, {
        sink: `${sink}:${port}/`,
        ca,
        body,
        resolve: async () => addresses,
      });
      expect(ended).toEqual(refused);
      expect(state.pulled).toBe(0);
    }
    expect(connections()).toBe(0);
  },
);

test("an attempt resolves a name once in each attempt", async () => {
  const { port, connections } = await httpsSink(answering(200));
  const answers = [["127.0.0.1"], ["192.168.0.1"], ["127.0.0.1"]];
  const names: string[] = [];
  const resolve = async (name: string) => {
    names.push(name);
    return answers.shift() ?? [];
  };
  const options = { sink: `${sink}:${port}/`, ca, resolve };

  expect(await postTo(port, options)).toEqual(delivered);
  expect(await postTo(port, options)).toEqual(refused);
  expect(await postTo(port, options)).toEqual(delivered);
  expect(await postTo(port, options)).toEqual({ outcome: "failed", cause: "NO_ADDRESS", sentWhole: false });
  expect(names).toEqual(Array.from({ length: 4 }, () => "sink.example.com"));
  expect(connections()).toBe(2);
});

test("an attempt fails when the name is not found, or not in time", async () => {
  const notFound = Object.assign(new Error("getaddrinfo ENOTFOUND sink.example.com"), {
    code: "ENOTFOUND",
  });
  const missing = await postTo(1, { sink, resolve: async () => await Promise.reject(notFound) });
  expect(missing).toEqual({ outcome: "failed", cause: "ENOTFOUND", sentWhole: false });
  const forever = async () => await new Promise<never>(() => {});
  const slow = await postTo(1, { sink, resolve: forever, limits: short });
  expect(slow).toEqual({ outcome: "failed", cause: "LOOKUP_TIMEOUT", sentWhole: false });
});

test("an attempt delivers to a name while name servers are silent about thirty others", async () => {
  const silent = Array.from({ length: 30 }, (_, index) => `silent-${index}.example.com`);
  const names = await nameServer({
    ...Object.fromEntries(silent.map((name) => [name, { silent: ["A", "AAAA"] }])),
    "sink.example.com": { addresses: ["127.0.0.1"] },
  });
  const { port } = await httpsSink(answering(200));
  const resolve: PostOptions["resolve"] = (name, signal) => resolveName(name, signal, [names.address]);
  const ending = new AbortController();
  const limits = { lookup: 60_000, attempt: 60_000 };
  const ended: unknown[] = [];
  const waiting = silent.map(async (name) => {
    ended.push(await postTo(1, { sink: `https://${name}/`, resolve, limits, signal: ending.signal }));
  });
  await expect.poll(() => names.questions.length).toBeGreaterThanOrEqual(2 * silent.length);

  expect(await postTo(port, { sink: `${sink}:${port}/`, ca, resolve })).toEqual(delivered);
  expect(ended).toEqual([]);

  ending.abort();
  await Promise.all(waiting);
  expect(ended).toEqual(silent.map(() => ({ outcome: "failed", cause: "ABORTED", sentWhole: false })));
});

test("an attempt resolves neither an address nor localhost", async () => {
  const { port } = await httpSink(answering(200));
  const resolve = () => Promise.reject(new Error("looked up"));
  for (const host of ["127.0.0.1", "localhost"]) {
    expect(await postTo(port, { sink: `http://${host}:${port}/`, resolve })).toEqual(delivered);
  }
});

test.skipIf(!hasIPv6)(
  "npm start reaches a sink that listens on ::1 alone, as localhost and as [::1]",
  async () => {
    const { port } = await listen(createServer(answering(200)), "::1");
    const allowed = parseAllowedNetworks(localSinks) ?? [];
    for (const host of ["localhost", "[::1]"]) {
      expect(await postTo(port, { sink: `http://${host}:${port}/`, allowed })).toEqual(delivered);
    }
  },
);

test("an attempt connects to the next address when one refuses the connection", async () => {
  const { port } = await httpsSink(answering(200));
  const options = { sink: `${sink}:${port}/`, ca };
  const ended = await postTo(port, { ...options, resolve: async () => ["127.0.0.2", "127.0.0.1"] });
  expect(ended).toEqual(delivered);
  const none = await postTo(port, { ...options, resolve: async () => ["127.0.0.2", "127.0.0.3"] });
  expect(none).toEqual({ outcome: "failed", cause: "ECONNREFUSED", sentWhole: false });
});

test("an attempt sends nothing over a connection that reached an address which is not allowed, although the look-up was checked before", async () => {
  const { port, connections } = await httpSink(answering(200));
  const reach = { allowed: [], runtimeApi: undefined };
  const place = parseSink(`${sink}:${port}/`, []) ?? expect.unreachable();
  const timer = new AttemptTimer(defaultLimits, undefined);
  const ended = await firstConnected(["127.0.0.1"], place, reach, timer);
  timer.stop();
  expect(ended).toMatchObject({ code: "REMOTE_ADDRESS" });
  expect(connections()).toBe(1);
});

test("an attempt refuses addresses that are not public when none are allowed", async () => {
  const { port, connections } = await httpsSink(answering(200));
  const options = { ca, allowed: [], resolve: async () => ["127.0.0.1"] };
  expect(await postTo(port, { ...options, sink: `${sink}:${port}/` })).toEqual(refused);
  for (const origin of ["http://127.0.0.1", "https://127.0.0.1", "https://localhost", "https://2130706433"]) {
    const ended = await postTo(port, { ...options, sink: `${origin}:${port}/` });
    expect(ended).toEqual({ outcome: "refused", cause: "SINK", sentWhole: false });
  }
  expect(connections()).toBe(0);
});

test("an attempt refuses the runtime API, with any allowed networks", async () => {
  const { port, connections } = await httpSink(answering(200));
  const everything = parseAllowedNetworks("0.0.0.0/0:1-65535,[::]/0:1-65535") ?? [];
  const options = { allowed: everything, runtimeApi: `127.0.0.1:${port}` };
  for (const origin of ["http://127.0.0.1", "http://127.0.0.2", "http://localhost", "http://[::1]"]) {
    expect(await postTo(port, { ...options, sink: `${origin}:${port}/` })).toEqual(refused);
  }
  const named = await postTo(port, {
    ...options,
    sink: `${sink}:${port}/`,
    resolve: async () => ["127.0.0.1"],
  });
  expect(named).toEqual(refused);
  expect(connections()).toBe(0);
  const other = await postTo(port, { ...options, runtimeApi: `127.0.0.1:${port + 1}` });
  expect(other).toEqual(delivered);
});
