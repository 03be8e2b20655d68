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

/** Keys are used this long before they are fetched again. */
const freshMilliseconds = publicKeyCacheSeconds * 1_000;

/** Keys that could not be renewed stay good this long: an issuer's outage must not become ours. */
const lastGoodMilliseconds = 86_400_000;

/** A source that failed is asked again at most this often. */
const failureMilliseconds = 1_000;

interface KeySource {
  readonly fetch: () => Promise<Jwks>;
  /** An unknown key id leads to a new fetch at most this often; a key just published is found that much later. */
  readonly cooldownMilliseconds: number;
  /** Told of every fetch that failed. */
  readonly onFailure: (error: unknown) => void | Promise<void>;
}

/**
 * The keys of one issuer, fetched when needed and kept in memory.
 *
 * A fetch that fails leaves the last good keys in use for a day. Concurrent callers share one fetch.
 */
export class KeySet {
  readonly #source: KeySource;
  #select: ReturnType<typeof createLocalJWKSet> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
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
    if (now - this.#fetchedAt > freshMilliseconds) await this.#renew(now);
    try {
      return await this.#find(header, token, now);
    } catch (error) {
      if (!(error instanceof joseErrors.JWKSNoMatchingKey)) throw error;
      // A key published a moment ago is the only good reason for an unknown id.
      await this.#renew(now);
      // While its issuer does not answer, nobody can say that an id is unknown.
      if (this.#failed) throw new Unavailable("token issuer", "no answer about a key");
      return await this.#find(header, token, now);
    }
  }

  async #find(header: JWTHeaderParameters, token: FlattenedJWSInput, now: number) {
    if (this.#select === undefined || now - this.#fetchedAt > lastGoodMilliseconds) {
      throw new Unavailable("token issuer", "no keys");
    }
    try {
      return await this.#select(header, token);
    } catch (error) {
      // A key that is published broken is the issuer's fault, not the caller's.
      if (error instanceof joseErrors.JWKSInvalid) throw new Unavailable("token issuer", error.name);
      throw error;
    }
  }

  async #renew(now: number): Promise<void> {
    const { cooldownMilliseconds } = this.#source;
    const pause = this.#failed ? Math.max(failureMilliseconds, cooldownMilliseconds) : cooldownMilliseconds;
    if (this.#fetching === undefined && now - this.#triedAt >= pause) {
      this.#triedAt = now;
      this.#fetching = this.#fetch(now).finally(() => {
        this.#fetching = undefined;
      });
    }
    await this.#fetching;
  }

  async #fetch(now: number): Promise<void> {
    try {
      this.#select = createLocalJWKSet(await this.#source.fetch());
      this.#fetchedAt = now;
      this.#failed = false;
    } catch (error) {
      this.#failed = true;
      await this.#source.onFailure(error);
    }
  }
}
