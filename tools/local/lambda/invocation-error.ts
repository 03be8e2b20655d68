/** An event that a function did not answer; members as in the response of Lambda. */
export class InvocationError extends Error {
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.name = "InvocationError";
    this.errorType = errorType;
  }
}
