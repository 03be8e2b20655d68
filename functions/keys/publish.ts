import { serve } from "../../shared/http/serve.ts";
import { publicKeys } from "../../shared/signing-keys.ts";
import { publishKeys } from "./contract.ts";

/** Serves our own public keys. */
export const handler = serve(publishKeys, async ({ now, signal, reply }) => {
  const keys = await publicKeys(now, signal);
  return reply(200, { keys });
});
