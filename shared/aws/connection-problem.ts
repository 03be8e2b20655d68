/** AWS cannot be used with the current settings; the message says what to set. */
export class NotConnected extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotConnected";
  }
}

/** What to set, by names of errors. The text of AWS's error may say what is meant. */
const advice: readonly (readonly [names: RegExp, advice: (text: string) => string])[] = [
  [
    /^(?:Credentials|TokenProvider)/,
    () => "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  ],
  [
    /^(?:ExpiredToken|UnrecognizedClient|InvalidSignature|IncompleteSignature|InvalidClientTokenId|MissingAuth|InvalidAccessKeyId|SignatureDoesNotMatch)/,
    () =>
      "AWS does not accept the credentials: renew those of AWS_PROFILE, or AWS_ACCESS_KEY_ID, " +
      "AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN",
  ],
  [/^AccessDenied/, (text) => `the credentials lack a permission: ${actionIn(text)}`],
  [/^ResourceNotFound/, (text) => noSuch(/secret/i.test(text) ? "secret" : "table")],
  [/^(?:AWS\.SimpleQueueService\.NonExistentQueue|QueueDoesNotExist)/, () => noSuch("queue")],
];

/**
 * What to set for an error of AWS.
 * @returns undefined for an error that is not about credentials, the region, rights or what a stack has.
 */
export function connectionProblem(error: unknown): NotConnected | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.message === "Region is missing") return new NotConnected("no AWS region: set AWS_REGION");
  const [, found] = advice.find(([names]) => names.test(error.name)) ?? [];
  return found === undefined ? undefined : new NotConnected(`${found(error.message)} (${error.name})`);
}

/** As in `User: … is not authorized to perform: dynamodb:GetItem on resource: …`. */
function actionIn(text: string): string {
  const [, action] = /to perform: ([\w-]+:\w+)/.exec(text) ?? [];
  return action ?? "commands read and write the tables, and use their KMS key";
}

function noSuch(kind: string): string {
  return `there is no such ${kind}: set AWS_REGION to the region of the stack, and --outputs to its outputs`;
}
