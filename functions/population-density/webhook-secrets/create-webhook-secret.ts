import { randomBytes } from "node:crypto";
import { hashed } from "../../../shared/hash.ts";
import { serve } from "../../../shared/http/serve.ts";
import { createWebhookSecret } from "./contract.ts";
import { deleteStoredSecret, maxWebhookSecrets, storeWebhookSecret } from "./store.ts";

/** Standard Webhooks asks for 24 to 64. */
const secretBytes = 32;

/** Creates a secret that signs the caller's deliveries, and shows it this once. */
export const handler = serve(createWebhookSecret, async (request) => {
  const { now, signal, onFault, reply, refuse } = request;
  const caller = hashed(request.caller.client);
  await request.quotaChecked;
  const created = {
    id: crypto.randomUUID(),
    secret: `whsec_${randomBytes(secretBytes).toString("base64")}`,
    createdAt: now.toISOString(),
  };
  // Before it is stored: a write whose answer is lost may have stored it, and nobody would know the secret.
  onFault((rollbackSignal) => deleteStoredSecret(caller, created.id, rollbackSignal));
  const outcome = await storeWebhookSecret(caller, created, now, signal);
  if (outcome === "erased")
    throw refuse("PERMISSION_DENIED", {
      message: "The login of this token was erased: no webhook secret can be created for it.",
    });
  if (outcome === "exhausted")
    throw refuse("TOO_MANY_REQUESTS", {
      message: `There are ${maxWebhookSecrets} webhook secrets already: delete one of them first.`,
      retryAfterSeconds: 60,
    });
  return reply(201, created);
});
