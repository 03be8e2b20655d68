import { afterAll, beforeAll, expect, test } from "vitest";
import { startDemoService } from "../../tools/local/demo-service.ts";
import { demoData } from "../../tools/local/demo-tables.ts";
import type { LocalService } from "../../tools/local/service.ts";
import { isWhole, runs } from "../support/sample.ts";
import { sharedService } from "../support/service.ts";

let service: LocalService;

beforeAll(async () => {
  const limits = { LOGIN_LIMIT_PER_SOURCE: "1000" };
  service = await startDemoService({
    assembly: sharedService.assembly,
    environment: limits,
    // In a sample a hash takes a quarter of the time that it takes a deployed function.
    extraEnvironment: isWhole ? {} : { PASSWORD_HASH_LN: "13" },
    port: 0,
    data: demoData,
    logs: { write: () => true },
  });
}, 120_000);
afterAll(() => service.close());

const logIn = async () => {
  const emailaddress = `${crypto.randomUUID()}@example.com`;
  const body = JSON.stringify({ emailaddress, password: "guess" });
  return (await fetch(`${service.url}/v3/profile/authenticate`, { method: "POST", body })).status;
};
const get = async (path: string, headers = {}) => (await fetch(`${service.url}${path}`, { headers })).status;

test("other functions answer while many logins are computing their hashes", async () => {
  const logins = Array.from({ length: runs(100, 6) }, logIn);
  // After the first answer, the others are being computed.
  await Promise.race(logins);

  const cold = await Promise.all([
    get("/.well-known/jwks.json"),
    get("/openapi.json"),
    get("/qualityondemand/qos-profiles/QOS_E", { authorization: "Bearer nothing" }),
  ]);

  expect(cold).toEqual([200, 200, 401]);
  // How many are answered within API Gateway's time-out depends on the machine.
  const others = (await Promise.all(logins)).filter((status) => ![401, 429, 503, 504].includes(status));
  expect(others).toEqual([]);
}, 120_000);
