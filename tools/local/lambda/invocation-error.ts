/** The type of the error when no execution is left for a function. */
export const throttledInvocation = "TooManyRequestsException";

/** A failed invocation, with the members of Lambda's error response. */
export class InvocationError extends Error {
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.name = "InvocationError";
    this.errorType = errorType;
  }
}
