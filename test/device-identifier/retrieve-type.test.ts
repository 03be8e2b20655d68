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

test("POST /retrieve-type returns the identifier it used when several were sent", async () => {
  const device = { ...phone, ipv6Address: "2001:db8:1:1::77" };
  const { body } = await retrieve(
    "/deviceidentifier/retrieve-type",
    "device-identifier:retrieve-type",
    device,
  );
  expect(body).toEqual({ device: phone, ...type });
});
