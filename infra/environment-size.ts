import { Token } from "aws-cdk-lib";
import { SettingError } from "./setting-error.ts";

/**
 * Lambda's limit, of the variables as a JSON object:
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const maxBytes = 4_096;

/** A value that only the deployment knows has at most this length: the address of a queue or the ARN of a secret. */
const unknownBytes = 170;

/**
 * Refuses an environment that Lambda would refuse in the middle of a deployment.
 * @throws {SettingError} naming the function and its longest variable.
 */
export function checkEnvironmentSize(id: string, environment: Readonly<Record<string, string>>): void {
  const known = Object.entries(environment).map(
    ([name, value]) => [name, Token.isUnresolved(value) ? "x".repeat(unknownBytes) : value] as const,
  );
  const bytes = Buffer.byteLength(JSON.stringify(Object.fromEntries(known)));
  if (bytes <= maxBytes) return;
  const [longest] = known.sort(([, one], [, other]) => other.length - one.length)[0] ?? [];
  throw new SettingError(
    `The environment of ${id} has up to ${bytes} bytes; Lambda takes ${maxBytes}. Its longest variable is ${longest}.`,
  );
}
