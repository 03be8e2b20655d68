import { expect, test } from "vitest";
import { call, tokenWith } from "../support/client.ts";

const phone = { phoneNumber: "+34600000001" };
const type = {
  lastChecked: "2026-02-20T10:41:38.657Z",
  tac: "49015420",
  model: "3110",
  manufacturer: "Nokia",
};

async function retrieve(path: string, scope: string, device: object) {
  return await call(path, { body: { device }, token: await tokenWith({ scope }) });
}

test.each(["/deviceidentifier/retrieve-type", "/device-identifier/v0.3/retrieve-type"])(
  "POST %s returns the type of a device, and none of its identifiers",
  async (path) => {
    const { status, body } = await retrieve(path, "device-identifier:retrieve-type", phone);
    expect({ status, body }).toEqual({ status: 200, body: type });
  },
);

test("POST /retrieve-type returns the identifier it used when several were sent", async () => {
  const device = { ...phone, ipv6Address: "2001:db8:1:1::77" };
  const { body } = await retrieve(
    "/deviceidentifier/retrieve-type",
    "device-identifier:retrieve-type",
    device,
  );
  expect(body).toEqual({ device: phone, ...type });
});

test.each(["type", "ppid"])(
  "POST /retrieve-%s returns 403 for a subscriber without consent",
  async (name) => {
    const path = `/deviceidentifier/retrieve-${name}`;
    const answer = await retrieve(path, `device-identifier:retrieve-${name}`, {
      phoneNumber: "+34600000005",
    });
    expect(answer).toMatchObject({
      status: 403,
      body: { message: "The subscriber has not consented to this." },
    });
  },
);
