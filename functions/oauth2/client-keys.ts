import { log } from "../../shared/aws/log.ts";
import { lambdaRuntimeApi, setting } from "../../shared/environment.ts";
import { ReadCache } from "../../shared/read-cache.ts";
import { get } from "../../shared/sinks/get.ts";
import { type ClientKey, type ClientRecord, clientKeys } from "./tables.ts";

const maxBytes = 64 * 1_024;
const maxMilliseconds = 2_000;
const cacheBytes = 2 ** 22;

/** Also of addresses without keys, so that a client's broken address is not asked for each request. */
const fetched = new ReadCache<readonly ClientKey[]>(cacheBytes, (keys) => 2 * JSON.stringify(keys).length);

/** The public keys of a client, those of an address up to `CACHE_SECONDS` old; none if the address has none. */
export async function keysOf({ jwks, jwksUri }: ClientRecord): Promise<readonly ClientKey[]> {
  if (jwks !== undefined) return jwks.keys;
  return jwksUri === undefined ? [] : await fetched.get(jwksUri, () => fetchKeys(jwksUri));
}

/** Without the signal of a request: others may wait for the same keys. */
async function fetchKeys(url: string): Promise<readonly ClientKey[]> {
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
  return [];
}

function keysIn(body: Buffer): readonly ClientKey[] | undefined {
  try {
    return clientKeys.safeParse(JSON.parse(body.toString("utf8"))).data?.keys;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
