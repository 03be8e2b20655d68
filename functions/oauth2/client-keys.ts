import { log } from "../../shared/aws/log.ts";
import { lambdaRuntimeApi, setting } from "../../shared/environment.ts";
import { ApiError, errors } from "../../shared/errors.ts";
import { ReadCache } from "../../shared/read-cache.ts";
import { get } from "../../shared/sinks/get.ts";
import { type ClientKey, type ClientRecord, clientKeys } from "./tables.ts";

const maxBytes = 64 * 1_024;
const maxMilliseconds = 2_000;
const cacheBytes = 2 ** 22;

/** After this time an address that failed is asked again: the `Retry-After` of the answer. */
const retryMilliseconds = 1_000 * errors.UNAVAILABLE.retryAfterSeconds;

/** Codes of `get` for an address that is never asked, however often the client repeats its request. */
const refusedAddresses = ["SINK", "ADDRESS"];

/** What came of asking an address: its keys, or `undefined` if it failed. */
type Fetched = readonly ClientKey[] | undefined;

/** Also of addresses that failed, so that they are not asked for each request. */
const fetched = new ReadCache<Fetched>(
  cacheBytes,
  (keys = []) => 2 * JSON.stringify(keys).length,
  () => Date.now(),
  (keys) => (keys === undefined ? retryMilliseconds : Number.POSITIVE_INFINITY),
);

/**
 * The public keys of a client, those of an address up to `CACHE_SECONDS` old; none if its address must not be asked.
 * @throws {ApiError} `UNAVAILABLE` if the address does not answer with a key set: who made an assertion is not known.
 */
export async function keysOf({ jwks, jwksUri }: ClientRecord): Promise<readonly ClientKey[]> {
  if (jwks !== undefined) return jwks.keys;
  if (jwksUri === undefined) return [];
  const keys = await fetched.get(jwksUri, () => fetchKeys(jwksUri));
  if (keys !== undefined) return keys;
  throw new ApiError("UNAVAILABLE", { message: "The address of the client's keys serves no key set." });
}

/** Without the signal of a request: others may wait for the same keys. */
async function fetchKeys(url: string): Promise<Fetched> {
  const body = await get({
    url,
    accept: "application/jwk-set+json, application/json",
    maxBytes,
    maxMilliseconds,
    allowed: setting("SINK_ALLOWED_NETWORKS"),
    runtimeApi: lambdaRuntimeApi(),
  });
  const keys = body instanceof Error ? undefined : keysIn(body);
  if (keys !== undefined) return keys;
  const cause = body instanceof Error && "code" in body ? String(body.code) : "no keys";
  log("CLIENT_KEYS_UNREACHABLE", { cause });
  return refusedAddresses.includes(cause) ? [] : undefined;
}

function keysIn(body: Buffer): readonly ClientKey[] | undefined {
  try {
    return clientKeys.safeParse(JSON.parse(body.toString("utf8"))).data?.keys;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
