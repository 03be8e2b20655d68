import * as z from "zod/mini";
import { endpoint } from "../../../shared/endpoint.ts";
import { callerErrors } from "../../../shared/errors.ts";

const id = z
  .uuid("must be a UUID")
  .check(
    z.meta({ description: "The id that 201 gave.", examples: ["3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11"] }),
  );
const createdAt = z.iso.datetime().check(z.meta({ description: "When it was created." }));

const secretExample = {
  id: "3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11",
  createdAt: "2026-11-22T10:00:00.000Z",
} as const;

const webhookSecret = z.object({ id, createdAt }).check(
  z.meta({
    id: "WebhookSecret",
    description: "A secret that signs deliveries, without the secret itself.",
  }),
);

const newWebhookSecret = z
  .object({
    id,
    secret: z
      .string()
      .check(
        z.regex(/^whsec_[A-Za-z0-9+/]{43}=$/),
        z.meta({ description: "The secret, in the form of Standard Webhooks. It is shown only here." }),
      ),
    createdAt,
  })
  .check(
    z.meta({
      id: "NewWebhookSecret",
      description: "A secret that signs deliveries from now on.",
      examples: [{ ...secretExample, secret: "whsec_bm90IGEgc2VjcmV0LCBhbiBleGFtcGxlIG9mIG9uZSE=" }],
    }),
  );

const webhookSecretList = z
  .object({
    secrets: z.array(webhookSecret).check(z.meta({ description: "The oldest first; at most two." })),
  })
  .check(
    z.meta({
      id: "WebhookSecretList",
      description: "The caller's secrets that sign deliveries.",
      examples: [{ secrets: [secretExample] }],
    }),
  );

const scope = "population-density-data:read";
const family = "/populationdensitydata/webhook-secrets";
const aliasFamily = "/population-density-data/v0.3/webhook-secrets";

/** `POST /populationdensitydata/webhook-secrets` (docs/deliveries.md). */
export const createWebhookSecret = endpoint({
  id: "population-density/create-webhook-secret",
  operationId: "createWebhookSecret",
  summary: "Create a secret that signs deliveries",
  description:
    "From now on the caller's deliveries are signed (Standard Webhooks). A caller has two secrets at most; while there " +
    "are two, both sign, so that a receiver can change from one to the other.",
  method: "POST",
  path: family,
  aliases: [aliasFamily],
  scope,
  responses: { 201: newWebhookSecret },
  errors: callerErrors,
});

/** `GET /populationdensitydata/webhook-secrets` (docs/deliveries.md). */
export const listWebhookSecrets = endpoint({
  id: "population-density/list-webhook-secrets",
  operationId: "listWebhookSecrets",
  summary: "List the secrets that sign deliveries",
  description:
    "The ids and dates of the caller's webhook secrets; a secret itself is shown only when it is created.",
  method: "GET",
  path: family,
  aliases: [aliasFamily],
  scope,
  responses: { 200: webhookSecretList },
  errors: callerErrors,
});

/** `DELETE /populationdensitydata/webhook-secrets/{id}` (docs/deliveries.md). */
export const deleteWebhookSecret = endpoint({
  id: "population-density/delete-webhook-secret",
  operationId: "deleteWebhookSecret",
  summary: "Delete a secret that signs deliveries",
  description:
    "Delivery attempts that begin afterwards are not signed with the secret. Returns the secrets that are left. Deleting twice is " +
    "deleting once: an id that the caller does not have changes nothing.",
  method: "DELETE",
  path: `${family}/{id}`,
  aliases: [`${aliasFamily}/{id}`],
  scope,
  parameters: { id },
  responses: { 200: webhookSecretList },
  errors: callerErrors,
});
