import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described } from "../../shared/schemas.ts";

const text = z.string().check(z.minLength(1));

/** The demo's application; a contract test holds that the service answers so. */
const exampleProfile = {
  ID: 1_000,
  Username: "Demo application",
  DateCreated: "2024-01-15T09:00:00Z",
  IsProfilePublic: false,
  DateLastLogin: "2026-11-20T08:00:00Z",
  EmailAddress: "app@example.com",
  Permissions:
    "qos-profiles:read population-density-data:read number-recycling:check " +
    "device-identifier:retrieve-identifier device-identifier:retrieve-type device-identifier:retrieve-ppid",
};

/** The profile of specification 2.1. */
export const userProfile = z
  .object({
    ID: described(z.number(), "The number of the profile."),
    Username: described(text, "The name of the account."),
    DateCreated: described(text, "When the profile was made, as it was imported."),
    IsProfilePublic: described(z.boolean(), "Whether other people may see the profile."),
    DateLastLogin: described(z.optional(text), "When this login was made, RFC 3339."),
    EmailAddress: described(z.optional(text), "The address that logs in."),
    Latitude: described(z.optional(z.number()), "Of the location, in degrees."),
    Location: described(z.optional(text), "Where the owner is, in words."),
    Longitude: described(z.optional(z.number()), "Of the location, in degrees."),
    Permissions: z.optional(
      text.check(z.meta({ description: "The scopes of the profile's tokens, space-separated." })),
    ),
    Profile: described(z.optional(text), "What the owner says of itself."),
    ProfileImageURL: described(z.optional(text), "Where a picture of the owner is."),
    ReputationPoints: described(z.optional(z.number()), "The owner's points."),
    WebsiteURL: described(z.optional(text), "The owner's site."),
  })
  .check(
    z.meta({
      id: "UserProfile",
      description: "A full profile, with members that are not public.",
      examples: [exampleProfile],
    }),
  );

/** `POST /profile/authenticate` (specification 4.1). */
export const authenticate = endpoint({
  id: "profile/authenticate",
  operationId: "authenticateProfile",
  summary: "Log in",
  description:
    "Exchanges an e-mail address and a password for an access token and the full profile. Needs no " +
    "token; one that is sent is ignored.",
  method: "POST",
  path: "/v3/profile/authenticate",
  aliases: ["/profile/authenticate"],
  scope: null,
  publicBecause:
    "Where a caller gets its token: it cannot have one yet. Failed attempts are counted and refused by " +
    "account and by source address.",
  body: z
    .object({
      emailaddress: described(z.optional(z.string()), "The address of the account; case does not matter."),
      password: z.optional(
        z.string().check(z.meta({ format: "password", description: "The password of the account." })),
      ),
    })
    .check(
      z.meta({
        id: "Credentials",
        description: "What a login is made with.",
        examples: [{ emailaddress: "app@example.com", password: "correct horse battery staple" }],
      }),
    ),
  responses: {
    200: z
      .object({
        Data: described(
          z.object({
            access_token: described(text, "A JWT to send as a bearer token."),
            UserProfile: userProfile,
          }),
          "What the login gives.",
        ),
        Metadata: described(
          z.object({ StatusCode: described(z.number(), "The HTTP status code, once more.") }),
          "About the response.",
        ),
      })
      .check(
        z.meta({
          id: "ProfileAuthenticateResponse",
          description: "The access token and the profile.",
          examples: [
            {
              Data: {
                access_token: "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIxMDAwIn0.c2lnbmF0dXJl",
                UserProfile: exampleProfile,
              },
              Metadata: { StatusCode: 200 },
            },
          ],
        }),
      ),
  },
  errors: ["INVALID_ARGUMENT", "UNAUTHENTICATED", "TOO_MANY_REQUESTS"],
});
