import { logEntries } from "../../shared/aws/log.ts";
import { code, markdownTable } from "./generated-part.ts";

/** What an operator reads of each entry of the log: what happened, and what to do about it, if anything. */
const explained: Readonly<Record<keyof typeof logEntries, readonly [happened: string, toDo?: string]>> = {
  REQUEST: ["A request was answered"],
  CRASH: [
    "Internal error in a request or message. With an `operationId`: the request was accepted all the same, but its " +
      "message not sent, or a place not freed",
    "Report it, with `cause`: [where it happened](#where-an-internal-error-happened)",
  ],
  DEPENDENCY_FAILED: ["DynamoDB, SQS or Secrets Manager did not answer; 503", "Nothing, unless it lasts"],
  DEADLINE_PASSED: ["A request was cancelled after five seconds; 504", "As `RequestsSlow`"],
  NOT_ROLLED_BACK: [
    "What a request began was not ended: a login counts as under way for 20 seconds, a large answer as being sent for 27",
    "As `NCS-003`",
  ],
  RESPONSE_CUT: [
    "A streamed response was cut: its caller did not read it in 20 seconds, or disconnected; then `cause` is the " +
      "connection's error",
    "Nothing: it is the caller's connection",
  ],
  QUOTA_NOT_COUNTED: ["A request was served without being counted", "As `RequestsUncounted`"],
  COUNTING_PAUSED: [
    "Counts are not answered: for about a second this environment serves requests uncounted, without a line for each",
    "As `RequestsUncounted`",
  ],
  ISSUER_KEYS_UNREACHABLE: ["Keys of a token issuer were not fetched", "As `IssuerKeysUnreachable`"],
  SIGNING_KEY_ROTATED: ["One of the four steps of a key rotation is complete"],
  PASSWORD_NOT_REHASHED: [
    "A login succeeded, but its outdated hash was not replaced",
    "Nothing: the next login does it",
  ],
  TOKEN_WITHOUT_SUBSCRIPTION: [
    "A token was refused that may be a person's: nothing in it says that it is an application's, and it names no " +
      "subscription",
    "If it is an application's: [its issuer's entry](authorization-servers.md#who-is-an-application). Otherwise " +
      "nothing: the person has no subscription",
  ],
  TOKEN_ISSUED: ["A client got an access token, with the `purpose` that it named"],
  CLIENT_KEYS_UNREACHABLE: [
    "The keys of a client with a `jwksUri` were not fetched, as `cause` says: its requests get 503 after ten minutes, " +
      "at once without earlier keys, or 401 if the failure will not pass by itself",
    "Ask the client: its address does not answer, is not public, or has no key set",
  ],
  ISSUER_KEYS_UNUSABLE: [
    "Some keys in a token issuer's key set cannot be used, with the `kid` of each, or its place: they are ignored, and " +
      "tokens signed with them are 401",
    "As [a key of an issuer must be](authorization-servers.md#keys), by its operator; nothing if no token needs it",
  ],
  MESSAGE_MALFORMED: [
    "A queue message is malformed; logged at its first receive",
    "Who else writes to the queue? The message ends in the parking queue",
  ],
  MESSAGE_NOT_HIDDEN: ["A message's visibility was not changed; it is received again later than planned"],
  ATTEMPT: ["A delivery attempt ended, with its outcome"],
  JOB_ENDED: ["A delivery ended: `delivered`, or `refused` by the sink"],
  JOB_FAILED: [
    "A delivery failed, with its `reason`",
    "An unreachable sink is its owner's to fix, and so is a token that expired (`token expired`). `NCS-032` before it, " +
      "of the same `operationId`, says more",
  ],
  JOB_GONE: ["A message names a delivery that does not exist, or no longer exists"],
  JOB_EXPIRED: ["A delivery expired, and its sink got nothing", "As `JobsExpired`"],
};

/** The codes of the log as a Markdown table, in the order of their numbers. */
export function logTable(): string {
  const names = Object.keys(logEntries) as (keyof typeof logEntries)[];
  const rows = names.map((name) => {
    const { id, level } = logEntries[name];
    const [happened, toDo = ""] = explained[name];
    return [code(id), level, happened, toDo];
  });
  return markdownTable(
    ["Code", "Level", "What happened", "What to do"],
    rows.sort(([one = ""], [other = ""]) => one.localeCompare(other)),
  );
}
