import type { LocalFunction } from "../template/functions.ts";

/** What Lambda allows an account in a region unless AWS has raised or lowered it. */
export const defaultAccountExecutions = 1_000;

/**
 * The concurrent executions of an account. A function with reserved concurrency has its own; the others share the rest.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
 */
export class AccountExecutions {
  #left: number;
  readonly #leftOf: Map<string, number>;

  /** @param quota of the account; without one, only reserved concurrency limits a function. */
  constructor(functions: readonly LocalFunction[], quota = Number.POSITIVE_INFINITY) {
    const reserved = functions.flatMap(({ logicalId, reservedConcurrency }) =>
      reservedConcurrency === undefined ? [] : [[logicalId, reservedConcurrency] as const],
    );
    this.#leftOf = new Map(reserved);
    this.#left = reserved.reduce((left, [, count]) => left - count, quota);
  }

  /** Takes an execution; undefined if none is left. The caller calls the result once when the execution has ended. */
  take({ logicalId }: Pick<LocalFunction, "logicalId">): (() => void) | undefined {
    const left = this.#leftOf.get(logicalId) ?? this.#left;
    if (left <= 0) return undefined;
    this.#add(logicalId, -1);
    return () => this.#add(logicalId, 1);
  }

  #add(logicalId: string, count: number): void {
    const own = this.#leftOf.get(logicalId);
    if (own === undefined) this.#left += count;
    else this.#leftOf.set(logicalId, own + count);
  }
}
