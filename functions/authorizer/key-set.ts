import type { KeyObject } from "node:crypto";
import {
  type FlattenedJWSInput,
  flattenedVerify,
  type JWTHeaderParameters,
  errors as joseErrors,
} from "jose";
import * as z from "zod/mini";
import { Unavailable } from "../../shared/errors.ts";
import { type Jwk, mayHaveSigned, publicKeyOf } from "../../shared/tokens/public-key.ts";
import { publicKeyCacheSeconds } from "../../shared/tokens/token.ts";

const text = z.optional(z.string());
const texts = z.optional(z.array(z.string()));

/** What RFC 7517, section 4, wants of any key, and the curve: with anything else in its place it is no key. */
const keyMembers = z.object({
  kty: z.string(),
  use: text,
  key_ops: texts,
  alg: text,
  kid: text,
  crv: text,
  x5u: text,
  x5c: texts,
  x5t: text,
  "x5t#S256": text,
});

/** A JSON Web Key Set; whether its members are keys is seen one by one. */
export const jwks = z.object({ keys: z.array(z.unknown()) });

/** A JSON Web Key Set. */
export type Jwks = z.infer<typeof jwks>;

/** Members of a set that are looked at: to find out that a key is unusable can take a millisecond. */
const maxKeys = 1_000;

/** Different keys that may have made one signature and are tried; the others are not. */
const maxTriedKeys = 5;

/** A request waits for new keys when the last fetch ended longer ago than this. */
const freshMilliseconds = publicKeyCacheSeconds * 1_000;

/** Keys older than this are renewed in the background, while requests go on with them. */
const renewalMilliseconds = freshMilliseconds - 60_000;

/** Keys that cannot be renewed are used for this long: an issuer's outage must not become ours. */
const lastGoodMilliseconds = 86_400_000;

interface KeySource {
  readonly fetch: () => Promise<Jwks>;
  /** A fetch ends by itself within this time. */
  readonly timeoutMilliseconds: number;
  /** The minimum time between fetches for unknown key ids; a newly published key is found this much later. */
  readonly cooldownMilliseconds: number;
  /** The minimum time before a failed fetch is retried. */
  readonly retryMilliseconds: number;
  /** Called for every failed fetch. */
  readonly onFailure: (error: unknown) => void | Promise<void>;
  /** Called when a fetch has brought unusable keys that the last one did not: with the `kid` or place of each. */
  readonly onUnusable: (keys: readonly string[]) => void | Promise<void>;
  /** The current time in milliseconds, read again when a fetch ends. */
  readonly clock: () => number;
}

/**
 * The keys of one issuer, fetched when needed and kept in memory.
 *
 * A request with a known key does not wait if a fetch, successful or failed, has ended within the last five minutes.
 * Keys are renewed in the background in their fifth minute, and again while that fails. When fetches fail, the last
 * keys are used for a day. Concurrent requests share one fetch.
 *
 * Lambda freezes an execution environment between requests, and with it a background fetch. So the first request after
 * a pause of more than five minutes waits for one fetch: otherwise a key that was withdrawn during the pause would be
 * accepted again. A fetch that failed because it was frozen is retried and not reported: it says nothing about the
 * source.
 */
export class KeySet {
  readonly #source: KeySource;
  #keys: readonly UsableKey[] | undefined;
  #unusable: readonly string[] = [];
  /** When the fetch that returned the keys began. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** When the last completed fetch began. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** When the last fetch began. */
  #triedAt = Number.NEGATIVE_INFINITY;
  #failed = false;
  #fetching: Promise<void> | undefined;

  constructor(source: KeySource) {
    this.#source = source;
  }

  /**
   * Finds the key that a token names, or that made its signature if several have that name; for jose's `jwtVerify`.
   * @throws {Unavailable} when no keys were fetched, or the key is unknown while keys cannot be renewed; jose's own
   * error when the issuer has no such key.
   */
  async keyFor(header: JWTHeaderParameters, token: FlattenedJWSInput, now: number) {
    if (now - this.#fetchedAt > renewalMilliseconds) this.#renew(now);
    await this.#askForKeys(now);
    try {
      return await this.#find(header, token, now);
    } catch (error) {
      if (!(error instanceof joseErrors.JWKSNoMatchingKey)) throw error;
      // The id may be that of a newly published key.
      await this.#askWithin(0, now);
      // While the issuer does not answer, an id cannot be called unknown.
      if (this.#failed) throw new Unavailable("token issuer", "no answer about a key");
      return await this.#find(header, token, now);
    }
  }

  /**
   * Loads the keys, unless that was a moment ago.
   * @throws {Unavailable} when they are not fetched, or none of them can be used. A set without any is no failure.
   */
  async load(now: number): Promise<void> {
    await this.#askForKeys(now);
    if (this.#failed || this.#keys === undefined) throw new Unavailable("token issuer", "no keys");
    if (this.#keys.length === 0 && this.#unusable.length > 0)
      throw new Unavailable("token issuer", "no usable key");
  }

  /** Waits for keys, or for newer ones than minutes ago. */
  async #askForKeys(now: number): Promise<void> {
    await this.#askWithin(this.#hasKeys(now) ? freshMilliseconds : 0, now);
  }

  #hasKeys(now: number): boolean {
    return this.#keys !== undefined && now - this.#fetchedAt <= lastGoodMilliseconds;
  }

  async #find({ alg, kid }: JWTHeaderParameters, token: FlattenedJWSInput, now: number): Promise<KeyObject> {
    if (this.#keys === undefined || !this.#hasKeys(now)) throw new Unavailable("token issuer", "no keys");
    const found = this.#keys.filter(({ jwk }) => mayHaveSigned(jwk, alg, kid)).map(({ key }) => key);
    const key = found.length > 1 ? await signerAmong(found.slice(0, maxTriedKeys), token) : found[0];
    if (key === undefined) throw new joseErrors.JWKSNoMatchingKey();
    return key;
  }

  /** Waits until a fetch has ended within these milliseconds, or may not be repeated yet. */
  async #askWithin(milliseconds: number, now: number): Promise<void> {
    // A fetch that is under way may have begun long ago: then there is another.
    for (let fetches = 0; fetches < 2 && now - this.#askedAt > milliseconds; fetches++) {
      this.#renew(now);
      await this.#fetching;
    }
  }

  /** Begins a fetch, unless one is under way or the last one was a moment ago. */
  #renew(now: number): void {
    const { cooldownMilliseconds, retryMilliseconds } = this.#source;
    const pause = this.#failed ? retryMilliseconds : cooldownMilliseconds;
    if (this.#fetching !== undefined || now - this.#triedAt < pause) return;
    this.#triedAt = now;
    const fetching = this.#fetch(now).finally(() => {
      this.#fetching = undefined;
    });
    // Only a report can reject. Who waits for it is told; in the background, nobody's rejection ends the process.
    fetching.catch(() => {});
    this.#fetching = fetching;
  }

  async #fetch(now: number): Promise<void> {
    const { fetch, timeoutMilliseconds, onFailure, onUnusable, clock } = this.#source;
    const started = clock();
    let keys: ReturnType<typeof divided>;
    try {
      keys = divided((await fetch()).keys.slice(0, maxKeys));
    } catch (error) {
      if (clock() - started > 2 * timeoutMilliseconds) {
        this.#triedAt = Number.NEGATIVE_INFINITY;
        return;
      }
      this.#askedAt = now;
      this.#failed = true;
      return await onFailure(error);
    }
    const { usable, unusable } = keys;
    const found = unusable.filter((name) => !this.#unusable.includes(name));
    this.#keys = usable;
    this.#unusable = unusable;
    this.#fetchedAt = now;
    this.#askedAt = now;
    this.#failed = false;
    if (found.length > 0) await onUnusable(found);
  }
}

/** A public key that verifies signatures, with what its set says of it. */
interface UsableKey {
  readonly jwk: Jwk;
  readonly key: KeyObject;
}

/**
 * Divides a key set into the keys that can be used, each once, and the names of those that cannot: RFC 7517, section 5,
 * has them ignored. Keys for other uses are left out.
 */
function divided(keys: readonly unknown[]): {
  readonly usable: readonly UsableKey[];
  readonly unusable: readonly string[];
} {
  const usable = new Map<string, UsableKey>();
  const unusable: string[] = [];
  for (const [index, jwk] of keys.entries()) {
    const members = keyMembers.safeParse(jwk).data;
    const key = members === undefined ? undefined : publicKeyOf(jwk as Jwk);
    if (members === undefined || key === undefined) {
      unusable.push(isObject(jwk) && typeof jwk.kid === "string" ? jwk.kid : `no. ${index + 1}`);
    } else if (verifies(members)) {
      const spki = key.export({ format: "der", type: "spki" }).toString("base64");
      const { kty, crv, kid, use, alg } = members;
      usable.set(JSON.stringify([kid, alg, spki]), { jwk: { kty, crv, kid, use, alg }, key });
    }
  }
  return { usable: [...usable.values()], unusable };
}

function isObject(value: unknown): value is Jwk {
  return typeof value === "object" && value !== null;
}

/** Whether a key is for verification, by its own members `use` and `key_ops`. */
function verifies({ use = "sig", key_ops = ["verify"] }: z.infer<typeof keyMembers>): boolean {
  return use === "sig" && key_ops.includes("verify");
}

/** The key that made a signature; if none did, the last one, with which jose finds that out again. */
async function signerAmong(
  keys: readonly KeyObject[],
  token: FlattenedJWSInput,
): Promise<KeyObject | undefined> {
  for (const key of keys) {
    try {
      await flattenedVerify(token, key);
      return key;
    } catch (error) {
      if (!(error instanceof joseErrors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  return keys.at(-1);
}
