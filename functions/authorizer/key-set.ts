import {
  createLocalJWKSet,
  type FlattenedJWSInput,
  type JWTHeaderParameters,
  errors as joseErrors,
} from "jose";
import * as z from "zod/mini";
import { Unavailable } from "../../shared/errors.ts";
import { publicKeyCacheSeconds } from "../../shared/tokens/token.ts";

/** A JSON Web Key Set as far as it is checked here; jose checks each key when it is used. */
export const jwks = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).check(z.maxLength(100)) });

/** A JSON Web Key Set. */
export type Jwks = z.infer<typeof jwks>;

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
  #select: ReturnType<typeof createLocalJWKSet> | undefined;
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
   * Finds the key a token names; for jose's `jwtVerify`.
   * @throws {Unavailable} when there are no usable keys, or the key is unknown while keys cannot be renewed; jose's own
   * errors when the issuer has no such key.
   */
  async keyFor(header: JWTHeaderParameters, token: FlattenedJWSInput, now: number) {
    if (now - this.#fetchedAt > renewalMilliseconds) this.#renew(now);
    await this.#askWithin(this.#hasKeys(now) ? freshMilliseconds : 0, now);
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

  #hasKeys(now: number): boolean {
    return this.#select !== undefined && now - this.#fetchedAt <= lastGoodMilliseconds;
  }

  async #find(header: JWTHeaderParameters, token: FlattenedJWSInput, now: number) {
    if (this.#select === undefined || !this.#hasKeys(now)) throw new Unavailable("token issuer", "no keys");
    try {
      return await this.#select(header, token);
    } catch (error) {
      // A key that is published broken is the issuer's fault, not the caller's.
      if (error instanceof joseErrors.JWKSInvalid) throw new Unavailable("token issuer", error.name);
      throw error;
    }
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
    this.#fetching = this.#fetch(now).finally(() => {
      this.#fetching = undefined;
    });
  }

  async #fetch(now: number): Promise<void> {
    const { fetch, timeoutMilliseconds, onFailure, clock } = this.#source;
    const started = clock();
    try {
      this.#select = createLocalJWKSet(await fetch());
      this.#fetchedAt = now;
      this.#askedAt = now;
      this.#failed = false;
    } catch (error) {
      if (clock() - started > 2 * timeoutMilliseconds) {
        this.#triedAt = Number.NEGATIVE_INFINITY;
        return;
      }
      this.#askedAt = now;
      this.#failed = true;
      await onFailure(error);
    }
  }
}
