import { devNull } from "node:os";
import { embeddedCredentials } from "./backing-server.ts";

/** With these, a client that has credentials reads no file of profiles, and asks no machine for its role. */
export const withoutProfiles = {
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: "true",
} as const;

/** What remains of the shell's: the addresses of servers, their keys, and what Lambda or SAM says about itself. */
const remaining = /^AWS_(?:ENDPOINT_URL_|ACCESS_KEY_ID$|SECRET_ACCESS_KEY$|SESSION_TOKEN$|LAMBDA_|SAM_)/;

/**
 * For programs that call local servers only: with any account in the shell, their clients have credentials
 * and ask AWS nothing. A profile may need a login, and FIPS has no endpoint here.
 * @param environment changed in place.
 */
export function forgetAwsAccount(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) {
    if (name.startsWith("AWS_") && !remaining.test(name)) delete environment[name];
  }
  environment.AWS_ACCESS_KEY_ID ||= embeddedCredentials.accessKeyId;
  environment.AWS_SECRET_ACCESS_KEY ||= embeddedCredentials.secretAccessKey;
  Object.assign(environment, withoutProfiles);
}
