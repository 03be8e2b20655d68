import { describe, expect, test } from "vitest";
import { call, tokenWith } from "../support/client.ts";

const path = "/deviceidentifier/retrieve-identifier";
const alias = "/device-identifier/v0.3/retrieve-identifier";

async function retrieve(body: unknown, claims: Record<string, unknown> = {}, at = path) {
  const token = await tokenWith({ scope: "device-identifier:retrieve-identifier", ...claims });
  return await call(at, { method: "POST", body, token, headers: { "x-correlator": "imei-1" } });
}

const refused = (status: number, code: string) => ({ status, body: { status, code } });
const phone = { phoneNumber: "+34600000001" };
const ofAnother = { ipv6Address: "2001:db8:2:2::1" };
const unknown = { ipv6Address: "2001:db8:ffff::1" };

const first = {
  lastChecked: "2026-02-20T10:41:38.657Z",
  imei: "490154203237518",
  imeisv: "4901542032375101",
  tac: "49015420",
  model: "3110",
  manufacturer: "Nokia",
};

describe("200", () => {
  test("POST /retrieve-identifier returns the device of a 3-legged token's subject, with or without consent", async () => {
    expect((await retrieve({}, { subscription: "s-0001" })).body).toEqual(first);
    expect(await retrieve({}, { subscription: "s-0005" })).toMatchObject({
      status: 200,
      body: { model: "Pixel 9" },
    });
  });
});

describe("400", () => {
  test("POST /retrieve-identifier returns 400 INVALID_ARGUMENT for identifiers of two subscribers who have consented", async () => {
    for (const device of [
      { ...phone, ...ofAnother },
      { phoneNumber: "+34600000004", ...ofAnother },
    ]) {
      expect(await retrieve({ device })).toMatchObject(refused(400, "INVALID_ARGUMENT"));
    }
  });

  test("the alias of POST /retrieve-identifier does not tell whether identifiers belong to one device", async () => {
    const device = { ...phone, ...ofAnother };
    const { status, body } = await retrieve({ device }, {}, alias);
    expect({ status, body }).toEqual({ status: 200, body: { device: phone, ...first } });
  });
});

describe("403", () => {
  test("POST /retrieve-identifier returns one 403 for the number of a subscriber without consent, next to any address", async () => {
    const own = { ipv4Address: { publicAddress: "203.0.113.50", publicPort: 42_000 } };
    const answers: unknown[] = [];
    for (const address of [own, ofAnother, unknown]) {
      const { status, body } = await retrieve({ device: { phoneNumber: "+34600000005", ...address } });
      answers.push({ status, body });
    }
    expect(answers[0]).toMatchObject(refused(403, "PERMISSION_DENIED"));
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect(await retrieve({ device: { ...phone, ...own } })).toMatchObject(refused(403, "PERMISSION_DENIED"));
  });
});
