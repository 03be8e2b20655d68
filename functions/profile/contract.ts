import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";

const text = z.string().check(z.minLength(1));

const exampleProfile = {
  ID: 1_001,
  Username: "example-app",
  DateCreated: "2026-01-15T09:30:00Z",
  IsProfilePublic: false,
  DateLastLogin: "2026-11-20T08:00:00Z",
  EmailAddress: "app@example.com",
  Permissions: "qos-profiles:read number-recycling:check",
};

/** The profile of specification 2.1. */
export const userProfile = z
  .object({
    ID: z.number(),
    Username: text,
    DateCreated: text,
    IsProfilePublic: z.boolean(),
    DateLastLogin: z.optional(text),
    EmailAddress: z.optional(text),
    Latitude: z.optional(z.number()),
    Location: z.optional(text),
    Longitude: z.optional(z.number()),
    Permissions: z.optional(
      text.check(z.meta({ description: "The scopes of the profile's tokens, space-separated." })),
    ),
    Profile: z.optional(text),
    ProfileImageURL: z.optional(text),
    ReputationPoints: z.optional(z.number()),
    WebsiteURL: z.optional(text),
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
  operationId: "authenticate",
  summary: "Log in",
  description:
    "Exchanges an e-mail address and a password for an access token and the full profile. Needs no token; one that is sent is ignored.",
  method: "POST",
  path: "/v3/profile/authenticate",
  aliases: ["/profile/authenticate"],
  scope: null,
  publicBecause:
    "Where a caller gets its token: it cannot have one yet. Failed attempts are counted and refused by account and by source address.",
  body: z
    .object({
      emailaddress: z.optional(z.string()),
      password: z.optional(z.string().check(z.meta({ format: "password" }))),
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
        Data: z.object({
          access_token: text.check(z.meta({ description: "A JWT to send as a bearer token." })),
          UserProfile: userProfile,
        }),
        Metadata: z.object({ StatusCode: z.number() }),
      })
      .check(
        z.meta({
          id: "ProfileAuthenticateResponse",
          description: "The access token and the profile.",
          examples: [
            {
              Data: {
                access_token: "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIxMDAxIn0.c2lnbmF0dXJl",
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
