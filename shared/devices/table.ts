import { table } from "../table.ts";
import { deviceRecord } from "./record.ts";

/**
 * Devices, one item for each identifier, so that any identifier costs one strongly consistent read, known or not.
 *
 * Indexes instead would be one for each kind of identifier, eventually consistent, and could not hold a list of
 * addresses. The price is paid by the import, which writes a handful of items for each device, and first deletes those
 * of identifiers that the device gave up.
 */
export const devices = table({
  name: "devices",
  partitionKey: "identifier",
  personalData: true,
  schema: deviceRecord,
});
