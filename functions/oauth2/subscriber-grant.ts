/** The grant `jwt-bearer` (RFC 7523, section 2.1): a client asks for a token for a subscriber. */
import { phoneIdentifier } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { accepted, authenticated, type TokenRequest } from "./client-authentication.ts";
import { type AssertionClaims, needsConsent, phoneNumberOf } from "./rules.ts";
import type { ClientRecord } from "./tables.ts";

/** The client whose assertion asks for a token for a subscriber, and that assertion (RFC 7523, section 2.1). */
export async function subscriberAsked(
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

/** The subscription of the number that an assertion names. */
export async function subscriptionOf(
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
