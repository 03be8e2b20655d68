import { hashed } from "../../../shared/hash.ts";
import { serve } from "../../../shared/http/serve.ts";
import { deleteWebhookSecret } from "./contract.ts";
import { deleteStoredSecret, listStoredSecrets } from "./store.ts";

/** Deletes a secret of the caller, and returns what is left. */
export const handler = serve(deleteWebhookSecret, async (request) => {
  const { parameters, signal, reply } = request;
  const caller = hashed(request.caller.client);
  await request.quotaChecked;
  await deleteStoredSecret(caller, parameters.id, signal);
  return reply(200, { secrets: await listStoredSecrets(caller, signal) });
});
