import { expect, test } from "vitest";
import * as z from "zod";
import { call, tokenWith } from "../support/client.ts";

const path = "/deviceidentifier/retrieve-ppid";
const alias = "/device-identifier/v0.3/retrieve-ppid";
const pseudonym = z.strictObject({ lastChecked: z.string(), ppid: z.string().regex(/^[0-9a-f]{64}$/) });
const phone = { phoneNumber: "+34600000001" };
const client = crypto.randomUUID();

/** What a client is told of a device; of its token's own, when no device is given. */
async function ppidFor(client_id: string, device?: object, claims: object = {}, at = path): Promise<string> {
  const token = await tokenWith({ client_id, scope: "device-identifier:retrieve-ppid", ...claims });
  const { status, body } = await call(at, { body: device === undefined ? {} : { device }, token });
  expect(status).toBe(200);
  return pseudonym.parse(body).ppid;
}

test("POST /retrieve-ppid returns a client the same pseudonym of a device for any identifier and token of the client", async () => {
  const ppid = await ppidFor(client, phone);
  expect(await ppidFor(client, phone, {}, alias)).toBe(ppid);
  expect(await ppidFor(client, { ipv6Address: "2001:db8:1:1::77" })).toBe(ppid);
  expect(await ppidFor(client, undefined, { sub: "ada", subscription: "s-0001" })).toBe(ppid);
});

test("POST /retrieve-ppid returns another pseudonym to another client, and for another device", async () => {
  const ppids = [
    await ppidFor(client, phone),
    await ppidFor(crypto.randomUUID(), phone),
    await ppidFor(client, { phoneNumber: "+34600000002" }),
  ];
  expect(new Set(ppids).size).toBe(3);
});
