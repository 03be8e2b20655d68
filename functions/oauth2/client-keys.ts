import { log } from "../../shared/aws/log.ts";
import { lambdaRuntimeApi, setting } from "../../shared/environment.ts";
import { errors } from "../../shared/errors.ts";
import { ReadCache } from "../../shared/read-cache.ts";
import { get } from "../../shared/sinks/get.ts";
import { SINK_ALLOWED_NETWORKS } from "../../shared/variables/sink-allowed-networks.ts";
import { type ClientKey, type ClientRecord, clientKeys } from "./tables.ts";

const maxBytes = 64 * 1_024;
const maxMilliseconds = 2_000;
const cacheBytes = 2 ** 22;

/** After this time an address that failed is asked again: the `Retry-After` of the answer. */
const retryMilliseconds = 1_000 * errors.UNAVAILABLE.retryAfterSeconds;

/** How long a client's earlier keys are accepted after its address failed. */
const keptMilliseconds = 10 * 60_000;

/** Codes of `get`, Node.js and name servers for failures that may pass without anybody mending the address. */
const temporaryFailures = [
  /^(?:LOOKUP_TIMEOUT|CONNECT_TIMEOUT|OVERTIME|STALLED|CLOSED)$/,
  /^STATUS_(?:408|429|5\d\d)$/,
  /^E(?:CANCELLED|REFUSED|SERVFAIL|TIMEOUT)$/,
  /^E(?:CONNABORTED|CONNREFUSED|CONNRESET|HOSTUNREACH|MFILE|NETUNREACH|PIPE|TIMEDOUT)$/,
];

/** The members of a key that count here; others may be of any kind, size and depth. */
const usedMembers = ["kty", "kid", "crv", "use", "alg", "x", "y", "n", "e"] as const;

/** What came of asking an address. */
interface Fetched {
  /** None for an address that is wrong; `undefined` if it failed for now and no earlier keys are kept. */
  readonly keys: readonly ClientKey[] | undefined;
  /** Until when they are kept after the address failed, in epoch milliseconds. */
  readonly keptUntil?: number;
  /** Whether the address answered with them. */
  readonly isCurrent: boolean;
}

/** Also of addresses that failed, so that they are not asked for each request. */
const fetched = new ReadCache<Fetched>(
  cacheBytes,
  ({ keys = [] }) => 2 * JSON.stringify(keys).length,
  () => Date.now(),
  ({ isCurrent }) => (isCurrent ? Number.POSITIVE_INFINITY : retryMilliseconds),
  // Anybody may name a client, so its address is not asked for each request even with `CACHE_SECONDS` 0.
  retryMilliseconds,
);

/**
 * The public keys of a client; none if their address is wrong. Those of an address are up to `CACHE_SECONDS` old, but at
 * least five seconds, and ten minutes more while it fails.
 * @param kid the name of the key that is looked for, if it has one.
 * @returns `undefined` while the address fails and no keys are kept, or none of that name: who made an assertion is not
 * known.
 */
export async function keysOf(
  { jwks, jwksUri }: ClientRecord,
  kid: unknown,
): Promise<readonly ClientKey[] | undefined> {
  if (jwks !== undefined) return jwks.keys;
  if (jwksUri === undefined) return [];
  const { keys, keptUntil } = await fetched.get(jwksUri, (before) => fetchKeys(jwksUri, before));
  const mayBeNewer = keptUntil !== undefined && kid !== undefined && !keys?.some((key) => key.kid === kid);
  return mayBeNewer ? undefined : keys;
}

/** Without the signal of a request: others may wait for the same keys. */
async function fetchKeys(url: string, before: Fetched | undefined): Promise<Fetched> {
  const body = await get({
    url,
    accept: "application/jwk-set+json, application/json",
    maxBytes,
    maxMilliseconds,
    allowed: setting(SINK_ALLOWED_NETWORKS),
    runtimeApi: lambdaRuntimeApi(),
  });
  const keys = body instanceof Error ? undefined : keysIn(body);
  if (keys !== undefined) return { keys, isCurrent: true };
  const cause = body instanceof Error && "code" in body ? String(body.code) : "no keys";
  log("CLIENT_KEYS_UNREACHABLE", { cause });
  const isTemporary = temporaryFailures.some((pattern) => pattern.test(cause));
  return isTemporary ? kept(before) : { keys: [], isCurrent: false };
}

/** What is left of the keys that an address answered with before it failed. */
function kept(before: Fetched | undefined): Fetched {
  const keptUntil = before?.keptUntil ?? Date.now() + keptMilliseconds;
  const isKept = before?.keys !== undefined && before.keys.length > 0 && Date.now() < keptUntil;
  return isKept ? { keys: before.keys, keptUntil, isCurrent: false } : { keys: undefined, isCurrent: false };
}

function keysIn(body: Buffer): readonly ClientKey[] | undefined {
  try {
    // Skips a byte order mark.
    const set = clientKeys.safeParse(JSON.parse(new TextDecoder().decode(body))).data;
    return set?.keys.map(used);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function used(key: ClientKey): ClientKey {
  const members = usedMembers.filter((name) => key[name] !== undefined).map((name) => [name, key[name]]);
  return Object.fromEntries(members) as ClientKey;
}
