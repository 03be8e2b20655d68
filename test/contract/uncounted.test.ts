import { expect, test } from "vitest";
import type { TableName } from "../../functions/areas.ts";
import { hashPassword } from "../../functions/profile/password.ts";
import { replaceProfile } from "../../functions/profile/store.ts";
import { getItem } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { quotas } from "../../shared/quota/table.ts";
import { tableVariable } from "../../shared/table.ts";
import { authorizerContext, eventOf } from "../support/pipeline.ts";
import { defaultSettings } from "../support/settings.ts";
import { useHarness } from "../support/use-harness.ts";

const plenty = { getRemainingTimeInMillis: () => 10_000 };

const { harness } = useHarness(defaultSettings);

/** Lets a table refuse every write. */
function stopWrites(table: TableName): void {
  const name = String(process.env[tableVariable({ name: table })]);
  const writes = ["PutItem", "UpdateItem", "ExecuteStatement"];
  harness().tables.inject(({ operation, parameters }) =>
    writes.includes(operation) && JSON.stringify(parameters).includes(name) ? "refuse" : "pass",
  );
}

test("a request whose count is executed and loses its answer is served, and counted once", async () => {
  const client = crypto.randomUUID();
  const key = { caller: hashed(client) };
  const { handler } = await import("../../functions/qos-profiles/get-by-name.ts");
  const event = eventOf({
    authorizer: authorizerContext({ client }),
    pathParameters: { name: "QOS_E" },
  });
  await handler(event, plenty);
  harness().tables.inject(({ operation }) => (operation === "UpdateItem" ? "lose" : "pass"));

  const { statusCode } = await handler(event, plenty);

  expect(statusCode).toBe(200);
  expect(await getItem(quotas, key, AbortSignal.timeout(60_000))).toMatchObject({ dayCount: 2 });
});

test("a read about a subscriber that cannot be recorded is answered with 503 and without data", async () => {
  stopWrites("access-records");
  const { handler } = await import("../../functions/device-identifier/retrieve.ts");
  const scope = "device-identifier:retrieve-identifier";
  const event = eventOf({ authorizer: authorizerContext({ scope, subscription: "s-0001" }), body: "{}" });

  const { statusCode, body } = await handler(event, plenty);

  expect(statusCode).toBe(503);
  expect(JSON.parse(body)).toMatchObject({ code: "UNAVAILABLE" });
  expect(body).not.toContain("490154203237518");
});

test("a login whose failures cannot be counted is answered with 503 before its password is read", async () => {
  const EmailAddress = `${crypto.randomUUID()}@example.com`;
  const account = { ID: 9, Username: "U", DateCreated: "2026-01-01T00:00:00Z", IsProfilePublic: true };
  const passwordHash = await hashPassword("right");
  await replaceProfile({ ...account, EmailAddress, passwordHash }, AbortSignal.timeout(60_000));
  stopWrites("login-attempts");
  const { handler } = await import("../../functions/profile/authenticate.ts");
  const before = harness().tables.calls.length;

  const { statusCode, headers, body } = await handler(
    eventOf({ body: JSON.stringify({ emailaddress: EmailAddress, password: "right" }) }),
    plenty,
  );

  expect(statusCode).toBe(503);
  expect(JSON.parse(body)).toMatchObject({ code: "UNAVAILABLE" });
  expect(Number(headers?.["retry-after"])).toBeGreaterThan(0);
  const called = harness().tables.calls.slice(before);
  expect(new Set(called.map(({ operation }) => operation))).toEqual(new Set(["UpdateItem"]));
});
