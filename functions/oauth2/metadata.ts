import { setting } from "../../shared/environment.ts";
import { serve } from "../../shared/http/serve.ts";
import { below } from "../../shared/tokens/issuer.ts";
import { ROUTES_BY_SCOPE } from "../../shared/variables/routes-by-scope.ts";
import { TOKEN_ISSUER } from "../../shared/variables/token-issuer.ts";
import { issueToken, publishMetadata } from "./contract.ts";
import { assertionAlgorithms } from "./rules.ts";
import { grants } from "./tables.ts";

/** Says where tokens are issued, and how. */
export const handler = serve(publishMetadata, async ({ reply }) => {
  const issuer = setting(TOKEN_ISSUER);
  return reply(200, {
    issuer,
    token_endpoint: below(issuer, issueToken.path),
    jwks_uri: below(issuer, "/.well-known/jwks.json"),
    scopes_supported: Object.keys(setting(ROUTES_BY_SCOPE)),
    response_types_supported: [],
    grant_types_supported: [...grants],
    token_endpoint_auth_methods_supported: ["private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: [...assertionAlgorithms],
  });
});
