import { serve } from "../../shared/http/serve.ts";
import { retrieveType } from "./contract.ts";
import { deviceOf } from "./find-device.ts";
import { equipmentNumbers } from "./rules.ts";

/** Returns the type of the device that a subscriber uses. */
export const handler = serve(retrieveType, async (request) => {
  const { record, common } = await deviceOf(request, "device-type");
  const { model, manufacturer } = record;
  const { tac } = equipmentNumbers(record);
  return request.reply(200, { ...common, tac, model, manufacturer });
});
