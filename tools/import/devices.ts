import * as z from "zod";
import { keysOf } from "../../shared/devices/keys.ts";
import { type DeviceRecord, deviceRecord } from "../../shared/devices/record.ts";
import { ownersOf, releaseIdentifiers, storeDevice } from "../../shared/devices/store.ts";
import { type ImportKind, readEach, writeEach } from "./import-file.ts";

const schema = z.object(deviceRecord.shape);

/** Devices with their identifiers. */
export const devices: ImportKind<typeof schema> = {
  file: "devices.json",
  schema,
  identities: (device) => keysOf(device).map((key) => ({ field: fieldOf(key), value: key })),
  async conflicts(records) {
    const owners = await readEach(records, ownersOf);
    const inFile = new Set(records.map(({ subscription }) => subscription));
    return records.flatMap((device: DeviceRecord, record) =>
      (owners[record] ?? [])
        // What another record of the file has now and does not name again, it gives up first.
        .filter(({ owner }) => owner !== device.subscription && !inFile.has(owner))
        .map(({ key }) => ({ record, field: fieldOf(key), message: "belongs to another subscription" })),
    );
  },
  async write(records) {
    // First all that a device gives up, then all that it takes: an identifier may pass from one to another.
    await writeEach(records, releaseIdentifiers);
    await writeEach(records, storeDevice);
  },
};

/** The field of a record that an item's key was made from. */
function fieldOf(key: string): string {
  const [kind] = key.split("#");
  return (
    { subscription: "subscription", phone: "phoneNumber", ipv4: "ipv4Addresses", ipv6: "ipv6Prefix" }[
      kind ?? ""
    ] ?? "identifiers"
  );
}
