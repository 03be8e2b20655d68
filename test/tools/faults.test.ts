import { expect, test } from "vitest";
import { checkNumberRecycling } from "../../functions/number-recycling/contract.ts";
import { authenticate } from "../../functions/profile/contract.ts";
import { canHave, faultyEvent, faultyVariables, readFault } from "../../tools/faults.ts";

const event = {
  path: "/numberrecycling/check",
  headers: { Host: "api.example.com" },
  requestContext: { stage: "live", authorizer: { client: "1000", scope: "number-recycling:check" } },
};

test("faultyEvent adds the fault's headers and leaves the rest of the event as it is", () => {
  const changed = faultyEvent(event, { headers: { "x-correlator": "not valid!" } });

  expect(changed).toEqual({ ...event, headers: { Host: "api.example.com", "x-correlator": "not valid!" } });
});

test("faultyEvent adds the fault's headers to an event without headers", () => {
  const changed = faultyEvent({ ...event, headers: null }, { headers: { "x-correlator": "not valid!" } });

  expect(changed).toEqual({ ...event, headers: { "x-correlator": "not valid!" } });
});

test("faultyEvent changes the caller in the authorizer's context", () => {
  expect(faultyEvent(event, { caller: { scope: "" } })).toMatchObject({
    requestContext: { stage: "live", authorizer: { client: "1000", scope: "" } },
  });
});

test("faultyEvent removes the caller when the fault has none", () => {
  const changed = faultyEvent(event, { caller: null });

  expect(JSON.parse(JSON.stringify(changed))).toEqual({ ...event, requestContext: { stage: "live" } });
});

test("faultyEvent refuses a fault of the caller for an event without one", () => {
  const open = { ...event, requestContext: { stage: "live" } };

  expect(() => faultyEvent(open, { caller: null })).toThrow("its operation needs no token");
});

test("faultyVariables changes the variables that a function has, and all that match a pattern", () => {
  const fault = { ...readFault("internal"), environment: { "TABLE_*": "", DAILY_QUOTA: "0" } };
  const variables = { TABLE_DEVICES: "a", TABLE_QUOTAS: "b", LOG_LEVEL: "INFO" };

  expect(faultyVariables(fault, variables)).toEqual({ TABLE_DEVICES: "", TABLE_QUOTAS: "" });
});

test("readFault refuses an unknown name and lists the faults that exist", () => {
  expect(() => readFault("../package")).toThrow("no fault ../package; there are internal, invalid-argument");
});

test("canHave is false for a code that the endpoint does not declare, and for a caller where no token is needed", () => {
  expect(canHave(checkNumberRecycling, readFault("permission-denied"))).toBe(true);
  expect(canHave(authenticate, readFault("quota-exceeded"))).toBe(false);
  expect(canHave(authenticate, readFault("unauthenticated"))).toBe(false);
  expect(canHave(authenticate, readFault("internal"))).toBe(true);
});
