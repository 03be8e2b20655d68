import { createHash, randomBytes, scryptSync } from "node:crypto";
import { beforeAll, expect, test, vi } from "vitest";
import { hashPassword, isOutdated, passwordMatches } from "../../functions/profile/password.ts";
import { countersOf } from "../../functions/profile/rules.ts";
import { findProfile, replaceProfile } from "../../functions/profile/store.ts";
import { loginAttempts } from "../../functions/profile/tables.ts";
import { getItem } from "../../shared/aws/database.ts";
import { tableVariable } from "../../shared/table.ts";
import type { Fault } from "../support/faulty-endpoint.ts";
import { eventOf } from "../support/pipeline.ts";
import { sharedService } from "../support/service.ts";
import { defaultSettings } from "../support/settings.ts";
import { useHarness } from "../support/use-harness.ts";

const password = "the right password";
const limits = { accountAndSource: 20, source: 300, account: 100 };
const signal = () => AbortSignal.timeout(10_000);

const profileOf = (EmailAddress: string, passwordHash: string) => ({
  ID: 9,
  Username: "Fault",
  DateCreated: "2026-01-01T00:00:00Z",
  IsProfilePublic: true,
  EmailAddress,
  passwordHash,
});

const { harness, output } = useHarness(defaultSettings);
beforeAll(() => {
  const { AWS_ENDPOINT_URL_SECRETS_MANAGER, SIGNING_KEY_SECRET_ARN } = sharedService.loginEnvironment;
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", AWS_ENDPOINT_URL_SECRETS_MANAGER);
  vi.stubEnv("SIGNING_KEY_SECRET_ARN", SIGNING_KEY_SECRET_ARN);
});

/** What a login is answered with, and what its counters hold afterwards. */
async function logIn(emailaddress: string, sent = password, milliseconds = 10_000) {
  const { handler } = await import("../../functions/profile/authenticate.ts");
  const before = Date.now();
  const { statusCode } = await handler(eventOf({ body: JSON.stringify({ emailaddress, password: sent }) }), {
    getRemainingTimeInMillis: () => milliseconds,
  });
  const counted: number[] = [];
  // Should a window have ended meanwhile, both are looked at; other files' logins have other sources.
  const keys = [before, Date.now()].flatMap((at) =>
    countersOf(emailaddress, "192.0.2.1", new Date(at), limits).map(({ key }) => key),
  );
  for (const key of new Set(keys.filter((one) => !one.startsWith("source#")))) {
    const item = await getItem(loginAttempts, { counted: key }, signal());
    if (item !== undefined) counted.push(item.attempts);
  }
  return { statusCode, counted };
}

async function account(passwordHash: string): Promise<string> {
  const EmailAddress = `${crypto.randomUUID()}@example.com`;
  await replaceProfile(profileOf(EmailAddress, passwordHash), signal());
  return EmailAddress;
}

const isRead = (operation: string, parameters: Readonly<Record<string, unknown>>) =>
  operation === "GetItem" && parameters.TableName === process.env[tableVariable({ name: "profiles" })];

test.each<[number, string, Fault, number]>([
  [
    503,
    "the store fails",
    ({ operation, parameters }) => (isRead(operation, parameters) ? "refuse" : "pass"),
    10_000,
  ],
  [
    504,
    "the store hangs",
    ({ operation, parameters }) => (isRead(operation, parameters) ? "hang" : "pass"),
    1_500,
  ],
])("a login that fails with %i because %s costs no attempt", async (status, _, fault, milliseconds) => {
  const address = await account(await hashPassword(password));
  harness().tables.inject(fault);

  expect(await logIn(address, password, milliseconds)).toEqual({ statusCode: status, counted: [0, 0] });
});

test("a login that fails with 500 because of its stored hash costs no attempt", async () => {
  const address = await account("not a hash of ours");

  expect(await logIn(address)).toEqual({ statusCode: 500, counted: [0, 0] });
});

test("a login with a wrong password stays counted", async () => {
  const address = await account(await hashPassword(password));

  expect(await logIn(address, "wrong")).toEqual({ statusCode: 401, counted: [1, 1] });
});

test("a login whose attempt cannot be withdrawn is logged as NCS-005 without the address", async () => {
  const address = await account(await hashPassword(password));
  const isWithdrawal = (parameters: Readonly<Record<string, unknown>>) =>
    String(parameters.UpdateExpression).startsWith("ADD attempts :less");
  harness().tables.inject(({ operation, parameters }) =>
    isRead(operation, parameters) || isWithdrawal(parameters) ? "refuse" : "pass",
  );

  const answer = await logIn(address);

  expect(answer).toEqual({ statusCode: 503, counted: [1, 1] });
  expect(output().text()).toContain('"NCS-005"');
  expect(output().text()).not.toContain(address);
});

async function hashOf(address: string): Promise<string | undefined> {
  return (await findProfile(address.toLowerCase(), signal()))?.passwordHash;
}

/** A hash as it would have been made with parameters of long ago. */
function weakHash(secret: string): string {
  const salt = randomBytes(16);
  const digest = createHash("sha256").update(secret).digest();
  const hash = scryptSync(digest, salt, 32, { N: 2 ** 10, r: 8, p: 1 });
  const [saltText, hashText] = [salt, hash].map((bytes) => bytes.toString("base64").replaceAll("=", ""));
  return `$sha256-scrypt$ln=10,r=8,p=1$${saltText}$${hashText}`;
}

test("a successful login renews a hash of weaker parameters for the same password", async () => {
  const weak = weakHash(password);
  const address = await account(weak);

  expect(await logIn(address, "wrong")).toMatchObject({ statusCode: 401 });
  expect(await hashOf(address)).toBe(weak);
  expect(await logIn(address)).toMatchObject({ statusCode: 200 });

  const renewed = (await hashOf(address)) ?? "";
  expect(isOutdated(renewed)).toBe(false);
  expect(await passwordMatches(password, renewed)).toBe(true);
  expect(await logIn(address)).toMatchObject({ statusCode: 200 });
  expect(await hashOf(address)).toBe(renewed);
});

test("a login succeeds although another login renews its hash before it is recorded", async () => {
  const address = await account(weakHash(password));
  const current = await hashPassword(password);
  let renewals = 0;
  const fault: Fault = async ({ parameters }) => {
    const isRecord = String(parameters.UpdateExpression).includes("DateLastLogin");
    if (isRecord && renewals++ === 0) await replaceProfile(profileOf(address, current), signal());
    return "pass" as const;
  };
  harness().tables.inject(fault);

  expect(await logIn(address)).toMatchObject({ statusCode: 200 });

  expect(renewals).toBeGreaterThan(0);
  expect(await hashOf(address)).toBe(current);
});

test("a login succeeds although the write of its renewed hash hangs", async () => {
  const weak = weakHash(password);
  const address = await account(weak);
  const faults = harness().tables.faultCount();
  harness().tables.inject(({ parameters }) =>
    String(parameters.UpdateExpression).startsWith("SET passwordHash") ? "hang" : "pass",
  );

  expect(await logIn(address)).toMatchObject({ statusCode: 200 });
  expect(harness().tables.faultCount()).toBeGreaterThan(faults);
  expect(await hashOf(address)).toBe(weak);
});
