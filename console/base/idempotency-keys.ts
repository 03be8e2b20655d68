/** Keys of requests that start something, which is started once however often they are sent. */

/** The `Idempotency-Key` of each request, from when it is first wanted until it is accepted. */
export class IdempotencyKeys {
  readonly #keys = new Map<string, string>();

  /** The key of a request: the one that it was sent with if it is not known to be accepted, otherwise a new one. */
  of(request: string): string {
    const key = this.#keys.get(request) ?? newKey();
    this.#keys.set(request, key);
    return key;
  }

  /** The same request has another key the next time. */
  accepted(request: string): void {
    this.#keys.delete(request);
  }
}

/** Pages without TLS have no `crypto.randomUUID`. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
