import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { resolveName } from "../../../shared/sinks/resolve-name.ts";
import { type NameRecords, type NameServer, openNameServer } from "../../support/name-server.ts";

const opened: NameServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

async function serving(names: Readonly<Record<string, NameRecords>>): Promise<NameServer> {
  const server = await openNameServer(names);
  opened.push(server);
  return server;
}

const never = new AbortController().signal;

/** What becomes of a name that a server knows this of. */
async function resolved(known: NameRecords): Promise<readonly string[]> {
  const { address } = await serving({ "sink.example.com": known });
  return await resolveName("sink.example.com", never, [address]);
}

describe("the addresses of a name", () => {
  test("a name has the addresses of both families, IPv4 first", async () => {
    const addresses = ["2001:db8::7", "192.0.2.1", "2001:db8::8", "192.0.2.2"];
    expect(await resolved({ addresses })).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::7", "2001:db8::8"]);
  });

  test("a name is asked for as it is, never within a search domain", async () => {
    const { address, questions } = await serving({});
    await expect(resolveName("sink.example.com", never, [address])).rejects.toThrow();
    expect([...questions].sort()).toEqual(["A sink.example.com", "AAAA sink.example.com"]);
  });

  test.each([
    [["192.0.2.1"], ["192.0.2.1"]],
    [["2001:db8::7"], ["2001:db8::7"]],
    [[], []],
  ])("a name has the addresses of its only family, or none: %j", async (addresses, expected) => {
    expect(await resolved({ addresses })).toEqual(expected);
  });
});

test.each([
  ["failing", "A", ["2001:db8::7"]],
  ["failing", "AAAA", ["192.0.2.1"]],
  ["silent", "A", ["2001:db8::7"]],
  ["silent", "AAAA", ["192.0.2.1"]],
] as const)(
  "a name has the addresses of the other family when its name server is %s for %s",
  async (how, kind, others) => {
    expect(await resolved({ addresses: ["192.0.2.1", "2001:db8::7"], [how]: [kind] })).toEqual(others);
  },
);

test("addresses of one family wait 500 ms for a name server that is silent about the other, and no longer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let found: readonly string[] | undefined;
  const resolving = resolved({ addresses: ["192.0.2.1"], silent: ["AAAA"] }).then((addresses) => {
    found = addresses;
  });
  while (vi.getTimerCount() === 0) await new Promise(setImmediate);

  await vi.advanceTimersByTimeAsync(499);
  expect(found).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await resolving;
  expect(found).toEqual(["192.0.2.1"]);
});

describe("a name without addresses", () => {
  test("a name that does not exist fails with ENOTFOUND", async () => {
    const { address } = await serving({});
    await expect(resolveName("sink.example.com", never, [address])).rejects.toMatchObject({
      code: "ENOTFOUND",
    });
  });

  test("a name fails with ESERVFAIL when the look-ups of both families fail", async () => {
    await expect(resolved({ failing: ["A", "AAAA"] })).rejects.toMatchObject({ code: "ESERVFAIL" });
  });

  test("a name fails with ESERVFAIL when one look-up fails and the other finds nothing", async () => {
    await expect(resolved({ failing: ["A"] })).rejects.toMatchObject({ code: "ESERVFAIL" });
  });

  test("a look-up fails with ECANCELLED when its attempt ends", async () => {
    const { address, questions } = await serving({ "sink.example.com": { silent: ["A", "AAAA"] } });
    const ending = new AbortController();
    const resolving = resolveName("sink.example.com", ending.signal, [address]);
    await expect.poll(() => questions.length).toBeGreaterThan(1);

    ending.abort();
    await expect(resolving).rejects.toMatchObject({ code: "ECANCELLED" });
  });

  test("nothing is looked up for an attempt that has already ended", async () => {
    const { address, questions } = await serving({});
    await expect(resolveName("sink.example.com", AbortSignal.abort(), [address])).rejects.toThrow();
    expect(questions).toEqual([]);
  });
});
