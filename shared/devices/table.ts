import { table } from "../table.ts";
import { deviceRecord } from "./record.ts";

/**
 * Devices, one item per identifier, so that any identifier, known or not, takes one strongly consistent read.
 *
 * The alternative, one index per kind of identifier, would be eventually consistent and could not contain a list of
 * addresses. The price is that an import writes several items per device, and first deletes those of identifiers that
 * the device no longer has.
 */
export const devices = table({
  name: "devices",
  partitionKey: "identifier",
  personalData: true,
  schema: deviceRecord,
});
