import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described } from "../../shared/schemas.ts";
import { publicJwk, publicKeyCacheSeconds } from "../../shared/tokens/token.ts";

/** `GET /.well-known/jwks.json`: the public keys of our own tokens, for services that verify them. */
export const publishKeys = endpoint({
  id: "keys/publish",
  operationId: "getPublicKeys",
  summary: "Public keys of access tokens",
  description: "The keys that verify the tokens of this service, as a JSON Web Key Set. Needs no token.",
  method: "GET",
  path: "/.well-known/jwks.json",
  aliases: [],
  scope: null,
  publicBecause: "Public keys, by which anybody may check a token of ours.",
  responses: {
    200: z.object({ keys: described(z.array(publicJwk), "The keys that are in use, and will be.") }).check(
      z.meta({
        id: "KeySet",
        description: "A JSON Web Key Set (RFC 7517).",
        examples: [
          {
            keys: [
              {
                kty: "EC",
                crv: "P-256",
                x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
                y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
                kid: "2026-11-20",
                alg: "ES256",
                use: "sig",
              },
            ],
          },
        ],
      }),
    ),
  },
  headers: { "cache-control": `public, max-age=${publicKeyCacheSeconds}` },
  errors: ["INVALID_ARGUMENT"],
});
