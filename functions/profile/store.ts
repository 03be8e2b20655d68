import { deleteItem, getItem, putItem, updateItem } from "../../shared/aws/database.ts";
import { whileChanged } from "../../shared/aws/while-changed.ts";
import { hashed } from "../../shared/hash.ts";
import { addressOf, type Counter, hasLapsed, type LimitExceeded, windowSeconds } from "./rules.ts";
import { loginAttempts, type ProfileRecord, profiles } from "./tables.ts";

/** The key is a hash, so that addresses of any length fit and none appears in metrics of hot keys. */
function keyOf(address: string): { address: string } {
  return { address: hashed(address) };
}

/** Finds a login by its address in lower case. */
export function findProfile(address: string, signal: AbortSignal): Promise<ProfileRecord | undefined> {
  return getItem(profiles, keyOf(address), signal);
}

/** Stores a login, replacing the one with the same address. */
export async function replaceProfile(profile: ProfileRecord, signal: AbortSignal): Promise<void> {
  const item = { ...keyOf(addressOf(profile.EmailAddress)), ...profile };
  // The address is the identity: another ID under the same address is another person's login.
  const unchanged = { condition: "attribute_not_exists(address) OR ID = :id", values: { ":id": profile.ID } };
  if (!(await putItem(profiles, item, unchanged, signal))) {
    throw new Error("the address belongs to another profile");
  }
}

/** Sets the time of the last login, unless the password has changed since it was checked. */
export function recordLogin(profile: ProfileRecord, at: string, signal: AbortSignal): Promise<boolean> {
  return updateItem(
    profiles,
    keyOf(addressOf(profile.EmailAddress)),
    {
      update: "SET DateLastLogin = :at",
      condition: "passwordHash = :hash",
      values: { ":at": at, ":hash": profile.passwordHash },
    },
    signal,
  );
}

/** Replaces the hash that was verified by one with the current parameters. */
export async function replaceHash(profile: ProfileRecord, hash: string, signal: AbortSignal): Promise<void> {
  const write = {
    update: "SET passwordHash = :new",
    condition: "passwordHash = :old",
    values: { ":new": hash, ":old": profile.passwordHash },
  };
  await updateItem(profiles, keyOf(addressOf(profile.EmailAddress)), write, signal);
}

/** Each takes two or three calls, so these fit into a login's time; what is still refused then counts as under way. */
const maxTries = 4;

/**
 * Counts an attempt as under way, in all counters or in none; exact under concurrency.
 * @returns why it is refused, or `undefined` when it has been counted.
 */
export async function beginAttempt(
  attempt: string,
  counters: readonly Counter[],
  now: Date,
  signal: AbortSignal,
): Promise<LimitExceeded | undefined> {
  for (const [index, counter] of counters.entries()) {
    const reason = await beginIn(counter, attempt, now, signal);
    if (reason === undefined) continue;
    await withdrawAttempt(attempt, counters.slice(0, index), signal);
    return { counter, reason };
  }
  return undefined;
}

async function beginIn(
  { key, limit }: Counter,
  attempt: string,
  now: Date,
  signal: AbortSignal,
): Promise<LimitExceeded["reason"] | undefined> {
  if (limit === 0) return "failures";
  const begin = {
    update: "SET expiresAt = :expiresAt ADD attempts :one, underWay :attempt",
    // Sent again after its answer was lost, it counts once.
    condition: "(attribute_not_exists(attempts) OR attempts < :limit) AND NOT contains(underWay, :name)",
    values: {
      ":one": 1,
      ":limit": limit,
      ":name": attempt,
      ":attempt": new Set([attempt]),
      ":expiresAt": Math.floor(now.getTime() / 1_000) + 2 * windowSeconds,
    },
  };
  const begun = await whileChanged(maxTries, async () => {
    if (await updateItem(loginAttempts, { counted: key }, begin, signal)) return "counted";
    const counted = await getItem(loginAttempts, { counted: key }, signal);
    if (counted === undefined) return undefined;
    const { attempts, underWay } = counted;
    if (underWay.has(attempt)) return "counted";
    const lapsed = [...underWay].filter((name) => hasLapsed(name, now));
    if (lapsed.length > 0) await dropLapsed(key, lapsed, signal);
    else if (attempts - underWay.size >= limit) return "failures";
    else if (attempts >= limit) return "underWay";
    return undefined;
  });
  return begun === "counted" ? undefined : (begun ?? "underWay");
}

/** Maximum of lapsed attempts that one write removes: its condition names each. */
const maxDropped = 50;

/** Removes the attempts of executions that broke off; does nothing when another request has removed one of them. */
async function dropLapsed(key: string, lapsed: readonly string[], signal: AbortSignal): Promise<void> {
  const dropped = lapsed.slice(0, maxDropped);
  const write = {
    update: "ADD attempts :less DELETE underWay :dropped",
    condition: dropped.map((_, index) => `contains(underWay, :name${index})`).join(" AND "),
    values: {
      ":less": -dropped.length,
      ":dropped": new Set(dropped),
      ...Object.fromEntries(dropped.map((name, index) => [`:name${index}`, name])),
    },
  };
  await updateItem(loginAttempts, { counted: key }, write, signal);
}

/** Counts an attempt under way as a failure. */
export async function failAttempt(
  attempt: string,
  counters: readonly Counter[],
  signal: AbortSignal,
): Promise<void> {
  await endAttempt("DELETE underWay :attempt", {}, attempt, counters, signal);
}

/** Removes an attempt under way from the count: it succeeded, or the service failed. */
export async function withdrawAttempt(
  attempt: string,
  counters: readonly Counter[],
  signal: AbortSignal,
): Promise<void> {
  const less = { ":less": -1 };
  await endAttempt("ADD attempts :less DELETE underWay :attempt", less, attempt, counters, signal);
}

/** Changes the counters that hold an attempt as under way, each at most once. */
async function endAttempt(
  update: string,
  values: Readonly<Record<string, number>>,
  attempt: string,
  counters: readonly Counter[],
  signal: AbortSignal,
): Promise<void> {
  const write = {
    update,
    condition: "contains(underWay, :name)",
    values: { ...values, ":name": attempt, ":attempt": new Set([attempt]) },
  };
  await Promise.all(counters.map(({ key }) => updateItem(loginAttempts, { counted: key }, write, signal)));
}

/** Deletes a login by its address in lower case. Returns whether there was one. */
export function deleteProfile(address: string, signal: AbortSignal): Promise<boolean> {
  return deleteItem(profiles, keyOf(address), { condition: "attribute_exists(address)" }, signal);
}
