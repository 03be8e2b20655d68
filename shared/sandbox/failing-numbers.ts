import { setting } from "../environment.ts";
import { ApiError, type Code } from "../errors.ts";
import type { Device } from "../schemas.ts";
import { SANDBOX } from "../variables/sandbox.ts";

/** The numbers that make an operation fail as no data can, with the code of the failure. */
export const failingNumbers: ReadonlyMap<string, Code> = new Map([
  ["+99042901", "TOO_MANY_REQUESTS"],
  ["+99042902", "QUOTA_EXCEEDED"],
  ["+99050001", "INTERNAL"],
  ["+99050301", "UNAVAILABLE"],
  ["+99050401", "TIMEOUT"],
]);

/**
 * Fails for such a number, where the stage is a sandbox.
 * @throws {ApiError} the number's code.
 */
export function failInSandbox({ phoneNumber = "" }: Device): void {
  const code = failingNumbers.get(phoneNumber);
  if (code !== undefined && setting(SANDBOX) === "on") throw new ApiError(code);
}
