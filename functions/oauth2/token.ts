import { recordAccess } from "../../shared/access-records/record-access.ts";
import { log } from "../../shared/aws/log.ts";
import { setting } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import { serve } from "../../shared/http/serve.ts";
import { accessToken } from "../../shared/tokens/access-token.ts";
import { TOKEN_LIFETIME_SECONDS } from "../../shared/variables/token-lifetime-seconds.ts";
import { authenticated } from "./client-authentication.ts";
import { issueToken } from "./contract.ts";
import { grantedScope, jwtBearer } from "./rules.ts";
import { subscriberAsked, subscriptionOf } from "./subscriber-grant.ts";
import { grants } from "./tables.ts";

/** Issues a token to a client, for itself or for a subscriber whom its assertion names. */
export const handler = serve(issueToken, async (request) => {
  const { body, correlator, now, signal, reply, refuse } = request;
  const grant = grants.find((known) => known === body.grant_type);
  if (grant === undefined) throw refuse("UNSUPPORTED_GRANT_TYPE");
  const { client, assertion } =
    grant === jwtBearer ? await subscriberAsked(request) : { client: await authenticated(request) };
  if (!client.grants.includes(grant)) throw refuse("UNAUTHORIZED_CLIENT");
  const granted = grantedScope(assertion === undefined ? body.scope : assertion.scope, client, grant);
  if ("problem" in granted) throw refuse("INVALID_SCOPE", { message: granted.problem });
  const { scope, scopes, purpose } = granted;
  const subscription = assertion === undefined ? undefined : await subscriptionOf(assertion, scopes, request);
  if (subscription !== undefined) {
    const by = { client: client.clientId, purpose };
    await recordAccess({ subscription, kind: "subscription", by }, request);
  }
  const holder = {
    client: client.clientId,
    scope,
    subscription,
  };
  const { token, keyAgeDays } = await accessToken(holder, now, signal);
  if (keyAgeDays !== undefined) request.measure({ metric: "SigningKeyAgeDays", value: keyAgeDays });
  log("TOKEN_ISSUED", {
    operation: issueToken.operationId,
    correlator,
    caller: hashed(client.clientId),
    grant,
    ...(purpose === undefined ? {} : { purpose }),
  });
  return reply(200, {
    access_token: token,
    token_type: "Bearer",
    expires_in: setting(TOKEN_LIFETIME_SECONDS),
    scope,
  });
});
