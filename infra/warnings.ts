import { Annotations } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Settings } from "./settings.ts";
import { configuration } from "./variables.ts";

/** Warns at synthesis when tokens would name an issuer that nobody can own (RFC 2606 reserves the name). */
export function warnOfIssuer(scope: Construct, settings: Pick<Settings, "configuration">): void {
  const issuer = settings.configuration.TOKEN_ISSUER ?? configuration.TOKEN_ISSUER.default;
  if (!/\.example(?:[:/]|$)/.test(issuer)) return;
  Annotations.of(scope).addWarningV2(
    "network-capabilities:token-issuer",
    `TOKEN_ISSUER is ${issuer}, a name that nobody can own. ` +
      "Services that verify our tokens must accept this issuer as it is, and every deployment that forgets " +
      "the setting has the same one. A change later refuses all tokens that are still valid. " +
      "Set it before the first login.",
  );
}
