import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described } from "../../shared/schemas.ts";
import { discoveryPath } from "../../shared/tokens/issuer.ts";
import { maxAssertionCharacters } from "./limits.ts";

const text = z.string().check(z.minLength(1));
const texts = z.array(text);
const assertion = z.optional(text.check(z.maxLength(maxAssertionCharacters)));

/** How a JWT looks: three parts of base64url. */
const aJwt = "eyJ….eyJ….…";

/** `POST /oauth2/token` (RFC 6749, section 3.2). */
export const issueToken = endpoint({
  id: "oauth2/token",
  operationId: "issueToken",
  summary: "Issue an access token",
  description:
    "Exchanges an assertion, a JWT that a client has signed with its key, for an access token. With the grant " +
    "`client_credentials` it is the client's own, 2-legged. With the grant `urn:ietf:params:oauth:grant-type:jwt-bearer` " +
    "it is a subscriber's, 3-legged: the assertion names the number as its subject, `tel:` and the number. The body is a " +
    "form. Errors have the members of RFC 6749 too, `error` and `error_description`. Needs no token.",
  method: "POST",
  path: "/oauth2/token",
  aliases: [],
  scope: null,
  publicBecause:
    "Where a client gets its token: it cannot have one yet. It proves who it is by a signature, once.",
  oauth2: true,
  body: z
    .object({
      grant_type: described(
        text,
        "`client_credentials` for a 2-legged token, `urn:ietf:params:oauth:grant-type:jwt-bearer` for a 3-legged one.",
      ),
      scope: described(z.optional(text), "Scopes and at most one purpose, separated by spaces."),
      assertion: described(assertion, "The JWT of a jwt-bearer grant (RFC 7523, section 2.1)."),
      client_id: described(z.optional(text), "The client, which its assertion names too."),
      client_assertion_type: described(
        z.optional(text),
        "`urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with `client_assertion`.",
      ),
      client_assertion: described(
        assertion,
        "The JWT that authenticates the client (RFC 7523, section 2.2).",
      ),
      client_secret: described(z.optional(text), "Refused: clients have keys, and no secrets."),
    })
    .check(
      z.meta({ examples: [{ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: aJwt }] }),
    ),
  responses: {
    200: z
      .object({
        access_token: described(text, "A JWT to send as a bearer token."),
        token_type: described(z.literal("Bearer"), "How to send it."),
        expires_in: described(z.int(), "The seconds for which it is valid."),
        scope: described(text, "What was granted."),
      })
      .check(
        z.meta({
          description: "The token.",
          examples: [
            {
              access_token: aJwt,
              token_type: "Bearer",
              expires_in: 3_600,
              scope: "device-identifier:retrieve-identifier dpv:ServiceProvision",
            },
          ],
        }),
      ),
  },
  headers: { pragma: "no-cache" },
  errors: [
    "INVALID_ARGUMENT",
    "INVALID_CLIENT",
    "INVALID_GRANT",
    "INVALID_SCOPE",
    "UNAUTHORIZED_CLIENT",
    "UNSUPPORTED_GRANT_TYPE",
    "PERMISSION_DENIED",
    "QUOTA_EXCEEDED",
    "TOO_MANY_REQUESTS",
  ],
});

/** The metadata of the issuer (RFC 8414, OpenID Connect Discovery 1.0), for clients to find the rest. */
export const publishMetadata = endpoint({
  id: "oauth2/metadata",
  operationId: "publishMetadata",
  summary: "Metadata of the token issuer",
  description: "Where tokens are issued and how: what exists, and nothing else. Needs no token.",
  method: "GET",
  path: discoveryPath,
  aliases: ["/.well-known/oauth-authorization-server"],
  scope: null,
  publicBecause: "Where tokens are issued, and how: the same for everybody.",
  responses: {
    200: z
      .object({
        issuer: described(text, "The `iss` of the tokens."),
        token_endpoint: described(text, "Where tokens are issued."),
        jwks_uri: described(text, "The keys that verify the tokens."),
        scopes_supported: described(texts, "The scopes of the API."),
        response_types_supported: described(texts, "None: there is no authorization endpoint."),
        grant_types_supported: described(texts, "How tokens are granted."),
        token_endpoint_auth_methods_supported: described(texts, "How clients are authenticated."),
        token_endpoint_auth_signing_alg_values_supported: described(texts, "How assertions are signed."),
      })
      .check(
        z.meta({
          description: "The metadata.",
          examples: [
            {
              issuer: "https://api.example.com/live",
              token_endpoint: "https://api.example.com/live/oauth2/token",
              jwks_uri: "https://api.example.com/live/.well-known/jwks.json",
              scopes_supported: ["number-recycling:check"],
              response_types_supported: [],
              grant_types_supported: ["client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
              token_endpoint_auth_methods_supported: ["private_key_jwt"],
              token_endpoint_auth_signing_alg_values_supported: ["ES256"],
            },
          ],
        }),
      ),
  },
  headers: { "cache-control": "public, max-age=300" },
  errors: ["INVALID_ARGUMENT"],
});
