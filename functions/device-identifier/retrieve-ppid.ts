import { serve } from "../../shared/http/serve.ts";
import { getOrCreatePseudonymKey } from "../../shared/pseudonym-keys/key.ts";
import { retrievePpid } from "./contract.ts";
import { deviceOf } from "./find-device.ts";
import { ppidOf } from "./rules.ts";

/** The key of the pseudonyms, which never changes. */
let key: string | undefined;

/** Returns the caller's pseudonym of the device that a subscriber uses. */
export const handler = serve(retrievePpid, async (request) => {
  const { caller, quotaChecked, signal, reply } = request;
  if (key === undefined) {
    await quotaChecked;
    key = await getOrCreatePseudonymKey("device-ppids", signal);
  }
  const { record, common } = await deviceOf(request, "device-ppid");
  return reply(200, { ...common, ppid: ppidOf(record.imei, caller.client, key) });
});
