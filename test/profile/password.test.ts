import { createHash } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { hashPassword, isOutdated, passwordMatches } from "../../functions/profile/password.ts";
import { isWhole } from "../support/sample.ts";

/** What tests ask hashes to be like, and where the tables are. */
function stubHashing(ln: string | undefined, endpoint: string | undefined): void {
  vi.stubEnv("PASSWORD_HASH_LN", ln);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
}

/** For tests that do not ask what a hash costs. */
const cheap = ["11", "http://127.0.0.1:8000"] as const;

/** A hash of no known password. */
const hashWith = (parameters: string) => `$sha256-scrypt$${parameters}$${"A".repeat(22)}$${"A".repeat(43)}`;

beforeEach(() => stubHashing(undefined, undefined));

test("a login accepts the password of a hash and no other", async () => {
  stubHashing(...cheap);
  const hash = await hashPassword("correct horse");

  expect(await passwordMatches("correct horse", hash)).toBe(true);
  expect(await passwordMatches("correct horsf", hash)).toBe(false);
  expect(await passwordMatches("", hash)).toBe(false);
});

test("a login refuses the password with zero bytes appended, and its digest", async () => {
  stubHashing(...cheap);
  const long = "x".repeat(100);
  const hash = await hashPassword("correct horse");
  expect(await passwordMatches("correct horse\u0000", hash)).toBe(false);
  const digest = createHash("sha256").update(long).digest().toString("latin1");
  expect(await passwordMatches(digest, await hashPassword(long))).toBe(false);
});

test("a stored hash of a password returns a hash with its parameters, which are at least OWASP's", async () => {
  expect(await hashPassword("any")).toMatch(/^\$sha256-scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
});

test("a stored hash of a password salts every hash differently", async () => {
  stubHashing(...cheap);
  expect(await hashPassword("same")).not.toBe(await hashPassword("same"));
});

test("a login accepts a password typed in another Unicode normal form", async () => {
  stubHashing(...cheap);
  const composed = "caf\u00e9";
  expect(await passwordMatches(composed.normalize("NFD"), await hashPassword(composed))).toBe(true);
});

test("a login refuses any password without a hash after the same work", async () => {
  // In a sample half as much work as deployed functions do.
  const ln = isWhole ? 15 : 14;
  if (!isWhole) stubHashing(String(ln), "http://127.0.0.1:8000");
  const measured = async (stored: string | undefined) => {
    const started = process.cpuUsage();
    expect(await passwordMatches("something else", stored)).toBe(false);
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };

  const known = await measured(hashWith(`ln=${ln},r=8,p=3`));
  const unknown = await measured(undefined);

  // The work is the same to the letter; the bounds leave room for the rest of the process.
  expect(unknown / known).toBeGreaterThan(0.3);
  expect(unknown / known).toBeLessThan(3);
});

test("a login throws for a stored hash of an unknown form", async () => {
  await expect(passwordMatches("x", "plain text")).rejects.toThrow("malformed");
});

test("a stored hash is renewed exactly if it is of less memory or less work than today's", () => {
  expect(isOutdated(hashWith("ln=15,r=8,p=3"))).toBe(false);
  for (const weaker of ["ln=14,r=8,p=6", "ln=15,r=8,p=1", "ln=15,r=4,p=3", "ln=10,r=8,p=1"]) {
    expect(isOutdated(hashWith(weaker))).toBe(true);
  }
  for (const other of ["ln=17,r=8,p=1", "ln=16,r=8,p=2"]) expect(isOutdated(hashWith(other))).toBe(false);
});

test("a stored hash of a password makes cheap hashes only in the local run, and isOutdated is true for them elsewhere", async () => {
  stubHashing("4", "http://127.0.0.1:8000");
  const hash = await hashPassword("any");
  expect(hash).toContain("$ln=4,r=8,p=3$");
  expect(isOutdated(hash)).toBe(false);
  for (const endpoint of [
    undefined,
    "",
    "https://dynamodb.eu-west-1.amazonaws.com",
    "http://127.0.0.1.example",
  ]) {
    stubHashing("4", endpoint);
    expect(isOutdated(hash)).toBe(true);
  }
  expect(await hashPassword("any")).toContain("$ln=15,r=8,p=3$");
});
