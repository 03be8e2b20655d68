import { recordAccess } from "../../shared/access-records/record-access.ts";
import { log } from "../../shared/aws/log.ts";
import { phoneIdentifier } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { setting } from "../../shared/environment.ts";
import { ApiError } from "../../shared/errors.ts";
import { hashed } from "../../shared/hash.ts";
import type { Request } from "../../shared/http/request.ts";
import { serve } from "../../shared/http/serve.ts";
import { accessToken } from "../../shared/tokens/access-token.ts";
import { below } from "../../shared/tokens/issuer.ts";
import { keysOf } from "./client-keys.ts";
import { issueToken } from "./contract.ts";
import {
  type AssertionClaims,
  assertionType,
  grantedScope,
  jwtBearer,
  needsConsent,
  phoneNumberOf,
  problemIn,
} from "./rules.ts";
import { findClient, useAssertion } from "./store.ts";
import { type ClientRecord, grants } from "./tables.ts";
import { readAssertion, verifyAssertion } from "./verify-assertion.ts";

type TokenRequest = Request<typeof issueToken>;

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
    expires_in: setting("TOKEN_LIFETIME_SECONDS"),
    scope,
  });
});

/** The client that a request authenticates by `private_key_jwt` (RFC 7523, section 2.2). */
async function authenticated(request: TokenRequest): Promise<ClientRecord> {
  const { body, header, refuse } = request;
  const scheme = /^[a-z]{1,20}(?= |$)/i.exec(header("authorization") ?? "")?.[0];
  const isOtherMethod = body.client_secret !== undefined || header("authorization") !== undefined;
  if (isOtherMethod || body.client_assertion === undefined || body.client_assertion_type !== assertionType) {
    // A challenge of the scheme that was tried (RFC 6749, section 5.2).
    const challenge = scheme === undefined ? {} : { challenge: `${scheme} realm="clients"` };
    throw refuse("INVALID_CLIENT", {
      message: "A client is authenticated by private_key_jwt alone.",
      ...challenge,
    });
  }
  const { client, claims } = await accepted(body.client_assertion, "INVALID_CLIENT", request);
  if (claims.sub !== claims.iss) {
    throw refuse("INVALID_CLIENT", { message: "The iss and sub of the assertion must be the client." });
  }
  return client;
}

/** The client whose assertion asks for a token for a subscriber, and that assertion (RFC 7523, section 2.1). */
async function subscriberAsked(
  request: TokenRequest,
): Promise<{ readonly client: ClientRecord; readonly assertion: AssertionClaims }> {
  const { body, header, refuse } = request;
  const { assertion: text, client_assertion, client_assertion_type, client_secret } = body;
  if (text === undefined) throw refuse("INVALID_ARGUMENT", { message: "assertion is missing." });
  const { client, claims } = await accepted(text, "INVALID_GRANT", request);
  const sent = [client_assertion, client_assertion_type, client_secret, header("authorization")];
  if (sent.some((one) => one !== undefined)) {
    const { clientId } = await authenticated(request);
    if (clientId !== client.clientId) {
      throw refuse("INVALID_CLIENT", { message: "Both assertions must be from the same client." });
    }
  }
  if (body.scope !== undefined && body.scope !== claims.scope) {
    throw refuse("INVALID_SCOPE", { message: "The scope must equal the scope claim of the assertion." });
  }
  return { client, assertion: claims };
}

/** An assertion that is accepted, for the first and only time, with the client that made it. */
async function accepted(
  text: string,
  refusal: "INVALID_CLIENT" | "INVALID_GRANT",
  { body, now, signal, refuse, countFor }: TokenRequest,
): Promise<{ readonly client: ClientRecord; readonly claims: AssertionClaims }> {
  const unverified = readAssertion(text);
  if (unverified === undefined) throw refuse(refusal);
  const client = await findClient(unverified.issuer, signal);
  const keys = client === undefined ? [] : await keysOf(client, unverified.kid);
  if (keys === undefined) {
    throw new ApiError("UNAVAILABLE", { message: "The address of the client's keys fails at the moment." });
  }
  const claims = await verifyAssertion(unverified, keys, now);
  if (client === undefined || claims === undefined) throw refuse(refusal);
  const issuer = setting("TOKEN_ISSUER");
  const message = problemIn(claims, [issuer, below(issuer, issueToken.path)], now);
  if (message !== undefined) throw refuse(refusal, { message });
  if (body.client_id !== undefined && body.client_id !== client.clientId) {
    throw refuse(refusal, { message: "The client_id is not that of the assertion." });
  }
  // Before the assertion is marked as used, so that after a 429 it can be sent again.
  await countFor(client.clientId);
  if (!(await useAssertion(claims, signal))) {
    throw refuse(refusal, { message: "The assertion was used before." });
  }
  return { client, claims };
}

/** The subscription of the number that an assertion names. */
async function subscriptionOf(
  { sub }: AssertionClaims,
  scopes: readonly string[],
  { signal, refuse }: TokenRequest,
): Promise<string> {
  const phoneNumber = phoneNumberOf(sub);
  if (phoneNumber === undefined) {
    throw refuse("INVALID_GRANT", {
      message: "The sub of the assertion must be tel: and a phone number in the form of E.164.",
    });
  }
  const device = await findDevice(phoneIdentifier(phoneNumber), signal);
  if (device === undefined) throw refuse("INVALID_GRANT", { message: "The number is not known." });
  if (needsConsent(scopes) && !device.identifierConsent) {
    throw refuse("PERMISSION_DENIED", { message: "The subscriber has not consented to this." });
  }
  return device.subscription;
}
