import { hashed } from "../../../shared/hash.ts";
import { serve } from "../../../shared/http/serve.ts";
import { listWebhookSecrets } from "./contract.ts";
import { listStoredSecrets } from "./store.ts";

/** Lists the ids and dates of the caller's secrets. */
export const handler = serve(listWebhookSecrets, async ({ caller, signal, reply }) => {
  return reply(200, { secrets: await listStoredSecrets(hashed(caller.client), signal) });
});
