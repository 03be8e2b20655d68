import { Webhook, WebhookVerificationError } from "standardwebhooks";
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
  /** Maximum size of a body after decompression; by default 512 MiB. The largest answer is about half of that. */
  readonly maxBytes?: number;
}

/** No attempt is made later than this after its request. */
const dayMilliseconds = 86_400_000;

/**
 * Creates a sink that receives the service's deliveries, as a handler of standard requests. It answers
 *
 * - 204 when `onDelivery` has resolved, and for an outcome that was delivered before;
 * - 401 without the access token or the signature, 405, 413, 415, or 400 for a body that is not a delivery: the service
 *   gives up;
 * - 503 if `onDelivery` has rejected: the service retries.
 *
 * Concurrent copies of an outcome reach `onDelivery` once.
 * @throws {TypeError} for an empty access token or secret, perhaps from an unset variable, and without both: anybody
 * could send deliveries.
 */
export function createReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const { accessToken, webhookSecret, onDelivery } = options;
  const { wasDelivered = () => false, maxBytes = 512 * 1_048_576 } = options;
  if ("accessToken" in options && !accessToken) throw new TypeError("accessToken must not be empty");
  if ("webhookSecret" in options && !webhookSecret) throw new TypeError("webhookSecret must not be empty");
  const webhook = webhookSecret === undefined ? undefined : new Webhook(webhookSecret);
  if (accessToken === undefined && webhook === undefined)
    throw new TypeError("accessToken or webhookSecret must be given");
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

  return async (request) => {
    if (request.method !== "POST") return refusal(405, { allow: "POST" });
    if (accessToken !== undefined && !(await hasToken(request, accessToken)))
      return refusal(401, { "www-authenticate": "Bearer" });
    const encoding = request.headers.get("content-encoding")?.toLowerCase() ?? "identity";
    if (encoding !== "gzip" && encoding !== "identity") return refusal(415, { "accept-encoding": "gzip" });
    const text = await textOf(request.body, encoding === "gzip", maxBytes);
    if (text === undefined) return refusal(413);
    if (webhook !== undefined && !isSigned(request, text, webhook)) return refusal(401);
    const delivery = parsed(text);
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

/** Compares all bytes of digests of equal length, so that the time taken reveals nothing about the token. */
async function hasToken({ headers }: Request, accessToken: string): Promise<boolean> {
  const [scheme, ...token] = (headers.get("authorization") ?? "").split(" ");
  const [given, expected] = await Promise.all([token.join(" "), accessToken].map(digestOf));
  let differences = scheme?.toLowerCase() === "bearer" ? 0 : 1;
  for (const [index, byte] of (given as Uint8Array).entries()) differences |= byte ^ (expected?.[index] ?? 0);
  return differences === 0;
}

/** Whether a body is signed, as it is and at about this time. */
function isSigned({ headers }: Request, text: string, webhook: Webhook): boolean {
  try {
    webhook.verify(text, Object.fromEntries(headers), { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/**
 * Reads the whole body; undefined if it is too large.
 * @throws if the client disconnects before the end of the body.
 */
async function textOf(
  body: ReadableStream<Uint8Array> | null,
  isPacked: boolean,
  maxBytes: number,
): Promise<string | undefined> {
  if (body === null) return "";
  const unpacked = isPacked ? body.pipeThrough(unpacking()) : body;
  const reader = unpacked.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Typed by hand: in the DOM's types, its writable side accepts more kinds of bytes than `pipeThrough` allows. */
function unpacking() {
  return new DecompressionStream("gzip") as unknown as {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
