import {
  createLocalJWKSet,
  type FlattenedJWSInput,
  type JWTHeaderParameters,
  errors as joseErrors,
} from "jose";
import * as z from "zod/mini";
import { Unavailable } from "../../shared/errors.ts";
import { publicKeyCacheSeconds } from "../../shared/token.ts";

/** A JSON Web Key Set as far as it is checked here; jose checks each key when it is used. */
export const jwks = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).check(z.maxLength(100)) });

/** A JSON Web Key Set. */
export type Jwks = z.infer<typeof jwks>;

/** Whoever asks for a key waits for new keys when their source was not asked for this long. */
const freshMilliseconds = publicKeyCacheSeconds * 1_000;

/** Keys of this age are renewed beside the requests that go on with them. */
const renewalMilliseconds = freshMilliseconds - 60_000;

/** Keys that could not be renewed stay good this long: an issuer's outage must not become ours. */
const lastGoodMilliseconds = 86_400_000;

interface KeySource {
  readonly fetch: () => Promise<Jwks>;
  /** A fetch ends by itself within this time. */
  readonly timeoutMilliseconds: number;
  /** An unknown key id leads to a new fetch at most this often; a key just published is found that much later. */
  readonly cooldownMilliseconds: number;
  /** A fetch that failed is tried again at most this often. */
  readonly retryMilliseconds: number;
  /** Told of every fetch that failed. */
  readonly onFailure: (error: unknown) => void | Promise<void>;
  /** The time as it passes while a fetch is under way, in milliseconds. */
  readonly clock: () => number;
}

/**
 * The keys of one issuer, fetched when needed and kept in memory.
 *
 * A request with a known key does not wait as long as the source was asked, with success or in vain, within the last five
 * minutes: keys are renewed in the fifth minute, and again and again while that fails, beside the requests. A fetch that
 * fails leaves the last good keys in use for a day. Concurrent callers share one fetch.
 *
 * Lambda freezes an execution environment between requests, and with it a fetch that nobody waits for. So whoever comes
 * after a pause of more than five minutes waits for one fetch: without it a key that was withdrawn during the pause would
 * be good once more. A fetch that was frozen, and failed for it, says nothing of its source: it is tried again and not
 * reported.
 */
export class KeySet {
  readonly #source: KeySource;
  #select: ReturnType<typeof createLocalJWKSet> | undefined;
  /** When the fetch began that the keys are from. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** When the last fetch began that has ended. */
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
   * @throws {Unavailable} when there are no usable keys, or none fits those that could not be renewed; jose's own
   * errors when no key of the issuer fits.
   */
  async keyFor(header: JWTHeaderParameters, token: FlattenedJWSInput, now: number) {
    if (now - this.#fetchedAt > renewalMilliseconds) this.#renew(now);
    await this.#askWithin(this.#hasKeys(now) ? freshMilliseconds : 0, now);
    try {
      return await this.#find(header, token, now);
    } catch (error) {
      if (!(error instanceof joseErrors.JWKSNoMatchingKey)) throw error;
      // A key published a moment ago is the only good reason for an unknown id.
      await this.#askWithin(0, now);
      // While its issuer does not answer, nobody can say that an id is unknown.
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

  /** Waits until the source was asked within so long, or must not be asked again yet. */
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
