import { getItem, putItem, updateItem } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { type ProfileRecord, profileRecord } from "./contract.ts";
import { addressOf, type Counter, windowSeconds } from "./rules.ts";

/** The key holds a hash: an address of any length has one, and none shows in a metric of hot keys. */
function keyOf(address: string): { address: string } {
  return { address: hashed(address) };
}

/** Finds a login by its address in lower case. */
export function findProfile(address: string, signal: AbortSignal): Promise<ProfileRecord | undefined> {
  return getItem("profiles", keyOf(address), profileRecord, signal);
}

/** Puts a login in place of the one with its address. */
export async function replaceProfile(profile: ProfileRecord, signal: AbortSignal): Promise<void> {
  const item = { ...keyOf(addressOf(profile.EmailAddress)), ...profile };
  // The address is the identity: another ID under the same address is another person's login.
  const unchanged = { condition: "attribute_not_exists(address) OR ID = :id", values: { ":id": profile.ID } };
  if (!(await putItem("profiles", item, unchanged, signal))) {
    throw new Error("the address belongs to another profile");
  }
}

/** Sets the time of the last login, unless the password has changed since it was checked. */
export function recordLogin(profile: ProfileRecord, at: string, signal: AbortSignal): Promise<boolean> {
  return updateItem(
    "profiles",
    keyOf(addressOf(profile.EmailAddress)),
    {
      update: "SET DateLastLogin = :at",
      condition: "passwordHash = :hash",
      values: { ":at": at, ":hash": profile.passwordHash },
    },
    signal,
  );
}

/**
 * Counts an attempt in all counters or in none.
 * @returns the first counter that is at its limit, or `undefined` when the attempt has been counted.
 */
export async function countAttempt(
  counters: readonly Counter[],
  now: Date,
  signal: AbortSignal,
): Promise<Counter | undefined> {
  const expiresAt = Math.floor(now.getTime() / 1_000) + 2 * windowSeconds;
  for (const [index, counter] of counters.entries()) {
    const { key, limit } = counter;
    const write = {
      update: "SET expiresAt = :expiresAt ADD attempts :one",
      condition: ":limit > :zero AND (attribute_not_exists(attempts) OR attempts < :limit)",
      values: { ":one": 1, ":zero": 0, ":limit": limit, ":expiresAt": expiresAt },
    };
    if (!(await updateItem("login-attempts", { counted: key }, write, signal))) {
      await forgetAttempt(counters.slice(0, index), signal);
      return counter;
    }
  }
  return undefined;
}

/**
 * Takes an attempt back that turned out to be no failure. A write that was done but whose answer was lost is
 * sent again and takes back two: one more guess in the window.
 */
export async function forgetAttempt(counters: readonly Counter[], signal: AbortSignal): Promise<void> {
  const write = {
    update: "ADD attempts :less",
    condition: "attempts > :zero",
    values: { ":less": -1, ":zero": 0 },
  };
  await Promise.all(counters.map(({ key }) => updateItem("login-attempts", { counted: key }, write, signal)));
}
