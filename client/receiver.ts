import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import isDelivery from "./is-delivery.ts";
import type { PopulationDensityDelivery } from "./schema.d.ts";

/** How a receiver handles deliveries. */
export interface ReceiverOptions {
  /**
   * The `accessToken` in the `sinkCredential` of your requests; deliveries without it are refused. Without it,
   * `webhookSecret` must be given.
   */
  readonly accessToken?: string;
  /**
   * A webhook secret of yours, as it was shown when it was created (`whsec_…`). Deliveries are refused that are not
   * signed with it, were changed, or are more than five minutes old. While you have two secrets, either will do.
   */
  readonly webhookSecret?: string;
  /**
   * Receives an operation's outcome: densities, or `OPERATION_NOT_COMPLETED`. The service considers it delivered when
   * this resolves, and retries later if this rejects. It waits only for seconds, so store the outcome now and process
   * it later.
   */
  readonly onDelivery: (delivery: PopulationDensityDelivery) => void | Promise<void>;
  /**
   * Whether an outcome has been stored already. Without this, a receiver knows only the outcomes received since it
   * started, and `onDelivery` may receive the same one again after a restart.
   */
  readonly wasDelivered?: (operationId: string) => boolean | Promise<boolean>;
  /**
   * Maximum size of a body; by default 256 MiB, which the largest answer of a service with the default limits has not.
   * With `webhookSecret` alone, it is also the maximum of all bodies together whose signatures are not verified yet.
   */
  readonly maxBytes?: number;
}

/** How far the time of a signed delivery may be from ours. */
const toleranceSeconds = 300;

/** Within this time a body must have come: no attempt takes that long. */
const bodyMilliseconds = 300_000;

/** No attempt is made later than this after its request. */
const dayMilliseconds = 86_400_000;

/**
 * Creates a sink that receives the service's deliveries, as a handler of standard requests. It answers
 *
 * - 204 when `onDelivery` has resolved, and for an outcome that was delivered before;
 * - 401 without the access token or the signature, 405, 413, 415 for a packed body, as the service sends none, or 400
 *   for one that is not a delivery: the service gives up;
 * - 503 if `onDelivery` has rejected, or too many bytes are not verified yet: the service retries.
 *
 * What the headers refuse is not read. Bytes are counted and hashed as they come, and become text once they are
 * verified. Concurrent copies of an outcome reach `onDelivery` once.
 * @throws {TypeError} for an access token or secret that is empty, perhaps from an unset variable, or malformed, and
 * without both: anybody could send deliveries.
 */
export function createReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const { accessToken, webhookSecret, onDelivery } = options;
  const { wasDelivered = () => false, maxBytes = 256 * 1_048_576 } = options;
  if ("accessToken" in options && !accessToken) throw new TypeError("accessToken must not be empty");
  if ("webhookSecret" in options && !webhookSecret) throw new TypeError("webhookSecret must not be empty");
  const key = webhookSecret === undefined ? undefined : keyIn(webhookSecret);
  if (accessToken === undefined && key === undefined)
    throw new TypeError("accessToken or webhookSecret must be given");
  /** Of all requests that nothing but their signature will prove. */
  let unverifiedBytes = 0;
  const taken = new Map<string, { readonly at: number; readonly outcome: Promise<void> }>();

  /** Handles each outcome once: a copy shares the result of the first. */
  const take = (delivery: PopulationDensityDelivery): Promise<void> => {
    const { operationId } = delivery;
    const known = taken.get(operationId);
    if (known !== undefined) return known.outcome;
    for (const [id, { at }] of taken) {
      if (at > Date.now() - dayMilliseconds) break;
      taken.delete(id);
    }
    const outcome = (async () => {
      if (!(await wasDelivered(operationId))) await onDelivery(delivery);
    })();
    taken.set(operationId, { at: Date.now(), outcome });
    outcome.catch(() => taken.delete(operationId));
    return outcome;
  };

  /**
   * Reads a body, as far as its bytes may be held.
   * @throws {TooLarge} otherwise; any other error if the client disconnects before the end, or takes too long.
   */
  const read = async (request: Request, signature: Signature | undefined): Promise<Blocks> => {
    const blocks = new Blocks();
    const write = (chunk: Uint8Array) => {
      if (blocks.bytes + chunk.byteLength > maxBytes) throw new TooLarge(413);
      if (accessToken === undefined && unverifiedBytes + chunk.byteLength > maxBytes) throw new TooLarge(503);
      unverifiedBytes += chunk.byteLength;
      blocks.add(chunk);
      signature?.hmac.update(chunk);
    };
    const signal = AbortSignal.timeout(bodyMilliseconds);
    try {
      // Not cancelled, so that a refusal can be sent while the rest of the body comes.
      await request.body?.pipeTo(new WritableStream({ write }), { signal, preventCancel: true });
    } finally {
      unverifiedBytes -= blocks.bytes;
    }
    return blocks;
  };

  return async (request) => {
    if (request.method !== "POST") return refusal(405, { allow: "POST" });
    if (accessToken !== undefined && !hasToken(request, accessToken))
      return refusal(401, { "www-authenticate": "Bearer" });
    const signature = key === undefined ? undefined : signatureIn(request, key);
    if (key !== undefined && signature === undefined) return refusal(401);
    const encoding = request.headers.get("content-encoding") ?? "identity";
    if (encoding.toLowerCase() !== "identity") return refusal(415, { "accept-encoding": "identity" });
    let blocks: Blocks;
    try {
      blocks = await read(request, signature);
    } catch (error) {
      if (error instanceof TooLarge) return refusal(error.status);
      throw error;
    }
    if (signature !== undefined && !isTrue(signature)) return refusal(401);
    const delivery = parsed(blocks.takeText());
    if (!isDelivery(delivery)) return refusal(400);
    // The header repeats the body's id, so that a proxy can tell copies apart.
    const { operationId } = delivery as PopulationDensityDelivery;
    if ((request.headers.get("webhook-id") ?? operationId) !== operationId) return refusal(400);
    try {
      await take(delivery as PopulationDensityDelivery);
    } catch {
      return refusal(503);
    }
    return new Response(null, { status: 204 });
  };
}

function refusal(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status, headers });
}

/** Compares digests of equal length, so that the time taken reveals nothing about the token. */
function hasToken({ headers }: Request, accessToken: string): boolean {
  const [scheme, ...token] = (headers.get("authorization") ?? "").split(" ");
  const [given, expected] = [token.join(" "), accessToken].map((text) =>
    createHash("sha256").update(text).digest(),
  );
  return scheme?.toLowerCase() === "bearer" && timingSafeEqual(given as Buffer, expected as Buffer);
}

/** @throws {TypeError} if it is no webhook secret. */
function keyIn(webhookSecret: string): Buffer {
  const [, base64] = /^(?:whsec_)?([A-Za-z\d+/]+={0,2})$/.exec(webhookSecret) ?? [];
  if (base64 === undefined) throw new TypeError("webhookSecret must be whsec_ and base64");
  return Buffer.from(base64, "base64");
}

/** The signatures of a delivery, each a text of the same length, and the hash that one of them must be. */
interface Signature {
  readonly given: readonly string[];
  /** Of what was sent until now. */
  readonly hmac: ReturnType<typeof createHmac>;
}

/** What the headers say, before the body is read; `undefined` if one is missing, malformed, or of another time. */
function signatureIn({ headers }: Request, key: Buffer): Signature | undefined {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headers.get(`webhook-${name}`),
  );
  const given = signatures?.split(" ").filter((one) => /^v1,[A-Za-z\d+/]{43}=$/.test(one)) ?? [];
  if (!id || !timestamp || !/^\d+$/.test(timestamp) || given.length === 0) return undefined;
  if (Math.abs(Math.floor(Date.now() / 1_000) - Number(timestamp)) > toleranceSeconds) return undefined;
  return { given, hmac: createHmac("sha256", key).update(`${id}.${timestamp}.`) };
}

function isTrue({ given, hmac }: Signature): boolean {
  const expected = Buffer.from(`v1,${hmac.digest("base64")}`);
  return given.some((one) => timingSafeEqual(Buffer.from(one), expected));
}

/** A body, or all of them together, with more bytes than may be held. */
class TooLarge extends Error {
  readonly status: number;

  constructor(status: number) {
    super();
    this.status = status;
  }
}

/** Bytes of a body, in blocks of a MiB at most: a byte that came as a chunk of its own would take two hundred. */
class Blocks {
  #blocks: Buffer[] = [];
  /** What is left of the last block. */
  #free = Buffer.alloc(0);
  bytes = 0;

  add(chunk: Uint8Array): void {
    for (let rest = chunk; rest.byteLength > 0; ) {
      if (this.#free.byteLength === 0) {
        this.#free = Buffer.allocUnsafeSlow(Math.min(Math.max(this.bytes, 1_024), 1_048_576));
        this.#blocks.push(this.#free);
      }
      const taken = rest.subarray(0, this.#free.byteLength);
      this.#free.set(taken);
      this.#free = this.#free.subarray(taken.byteLength);
      this.bytes += taken.byteLength;
      rest = rest.subarray(taken.byteLength);
    }
  }

  /** The text, once: each block is forgotten when it has been decoded. */
  takeText(): string {
    const decoder = new TextDecoder();
    let text = "";
    let left = this.bytes;
    for (let block = this.#blocks.shift(); block !== undefined; block = this.#blocks.shift()) {
      text += decoder.decode(block.subarray(0, left), { stream: true });
      left -= block.byteLength;
    }
    return text + decoder.decode();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
