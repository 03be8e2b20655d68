import { serve } from "../../shared/http/serve.ts";
import { ReadCache } from "../../shared/read-cache.ts";
import { publicKeys } from "../../shared/tokens/signing-keys.ts";
import type { PublicJwk } from "../../shared/tokens/token.ts";
import { publishKeys } from "./contract.ts";

/** There is one entry: the whole key set. */
const cache = new ReadCache<PublicJwk[]>(2 ** 20, () => 0);

/** Serves our own public keys, up to `CACHE_SECONDS` old: anybody may ask as often as they like. */
export const handler = serve(publishKeys, async ({ now, signal, reply }) => {
  const keys = await cache.get("keys", () => publicKeys(now, signal));
  return reply(200, { keys });
});
