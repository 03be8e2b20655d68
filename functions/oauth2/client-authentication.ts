import { setting } from "../../shared/environment.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Request } from "../../shared/http/request.ts";
import { below } from "../../shared/tokens/issuer.ts";
import { TOKEN_ISSUER } from "../../shared/variables/token-issuer.ts";
import { keysOf } from "./client-keys.ts";
import { issueToken } from "./contract.ts";
import { type AssertionClaims, assertionType, problemIn } from "./rules.ts";
import { findClient, useAssertion, wasUsed } from "./store.ts";
import type { ClientRecord } from "./tables.ts";
import { readAssertion, verifyAssertion } from "./verify-assertion.ts";

/** A request for a token. */
export type TokenRequest = Request<typeof issueToken>;

/** The client that a request authenticates by `private_key_jwt` (RFC 7523, section 2.2). */
export async function authenticated(request: TokenRequest): Promise<ClientRecord> {
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

/** An assertion that is accepted, for the first and only time, with the client that made it. */
export async function accepted(
  text: string,
  refusal: "INVALID_CLIENT" | "INVALID_GRANT",
  { body, now, signal, refuse, countFor }: TokenRequest,
): Promise<{ readonly client: ClientRecord; readonly claims: AssertionClaims }> {
  const unverified = readAssertion(text);
  if ("problem" in unverified) {
    const { problem } = unverified;
    throw refuse(refusal, problem === undefined ? {} : { message: problem });
  }
  const client = await findClient(unverified.issuer, signal);
  const keys = client === undefined ? [] : await keysOf(client, unverified.kid);
  if (keys === undefined) {
    throw new ApiError("UNAVAILABLE", { message: "The address of the client's keys fails at the moment." });
  }
  const claims = await verifyAssertion(unverified, keys, now);
  if (client === undefined || claims === undefined) throw refuse(refusal);
  const issuer = setting(TOKEN_ISSUER);
  const message = problemIn(claims, [issuer, below(issuer, issueToken.path)], now);
  if (message !== undefined) throw refuse(refusal, { message });
  if (body.client_id !== undefined && body.client_id !== client.clientId) {
    throw refuse(refusal, { message: "The client_id is not that of the assertion." });
  }
  const usedBefore = { message: "The assertion was used before." };
  // Before the request is counted: who has seen an assertion could use up its client's quota otherwise.
  if (await wasUsed(claims, signal)) throw refuse(refusal, usedBefore);
  // Before the assertion is marked as used, so that after a 429 it can be sent again.
  await countFor(client.clientId);
  if (!(await useAssertion(claims, signal))) throw refuse(refusal, usedBefore);
  return { client, claims };
}
