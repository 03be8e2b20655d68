import { serve } from "../../shared/http/serve.ts";
import { retrieveIdentifier } from "./contract.ts";
import { deviceOf } from "./find-device.ts";
import { equipmentNumbers } from "./rules.ts";

/** Returns the identifiers and the type of the device that a subscriber uses. */
export const handler = serve(retrieveIdentifier, async (request) => {
  const { record, common } = await deviceOf(request, "device-identifiers");
  const { model, manufacturer } = record;
  return request.reply(200, { ...common, ...equipmentNumbers(record), model, manufacturer });
});
