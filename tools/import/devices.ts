import * as z from "zod";
import { areas } from "../../functions/areas.ts";
import type { ServiceArea } from "../../shared/area.ts";
import { getItems } from "../../shared/aws/database.ts";
import { keysOf, subscriptionIdentifier } from "../../shared/devices/keys.ts";
import { type DeviceRecord, deviceRecord } from "../../shared/devices/record.ts";
import { releaseIdentifiers } from "../../shared/devices/store.ts";
import { devices as table } from "../../shared/devices/table.ts";
import { withSchema } from "../../shared/table.ts";
import { marshalled, writeItems } from "../aws/write-items.ts";
import { recordFiles } from "./data-files.ts";
import type { Identities } from "./identities.ts";
import {
  eachBatch,
  eachItem,
  type ImportKind,
  type RecordImport,
  type Source,
  together,
} from "./import-file.ts";
import type { Placed } from "./record-file.ts";

/** The areas that look at whether their service applies to a device. */
const deviceAreas = (areas as readonly ServiceArea[])
  .filter(({ endpoints }) => endpoints.some(({ errors }) => errors.includes("SERVICE_NOT_APPLICABLE")))
  .map(({ name }) => name);

const schema = z
  .object(deviceRecord.shape)
  .extend({ notApplicable: z.array(z.enum(deviceAreas)).optional() });

/** Devices with their identifiers. */
export const devices: ImportKind<typeof schema> = {
  file: recordFiles.devices,
  table,
  schema,
  identities: (device) => keysOf(device).map((key) => ({ field: fieldOf(key), value: key })),
  begin: (_, identities) => new DeviceImport(identities),
};

type Devices = readonly Placed<DeviceRecord>[];

/** What is read of an item to learn its owner. */
const owned = withSchema(table, z.object({ identifier: z.string(), subscription: z.string() }));

class DeviceImport implements RecordImport<DeviceRecord> {
  readonly #identities: Identities;
  /** Whether any device gives up an identifier that it has. */
  #releases = false;

  constructor(identities: Identities) {
    this.#identities = identities;
  }

  /** Identifiers must be free, the device's own, or those of a device that the file has too. */
  async review(records: Devices): Promise<void> {
    await together(records, async (signal) => {
      const devices = records.map(({ position, content }) => ({ position, content, keys: keysOf(content) }));
      const [stored, owners] = await Promise.all([
        getItems(table, distinct(devices.map(({ keys: [subscription] }) => subscription)), signal),
        getItems(owned, distinct(devices.flatMap(({ keys: [, ...identifiers] }) => identifiers)), signal),
      ]);
      const before = new Map(stored.map((device) => [device.subscription, device]));
      const ownerOf = new Map(owners.map(({ identifier, subscription }) => [identifier, subscription]));
      for (const { position, content, keys } of devices) {
        for (const key of keys) {
          const owner = ownerOf.get(key);
          if (owner === undefined || owner === content.subscription) continue;
          // What another record of the file has now and does not name again, it gives up first.
          this.#identities.require(subscriptionIdentifier(owner).key, {
            record: position,
            field: fieldOf(key),
            message: "belongs to another subscription",
          });
        }
        const had = before.get(content.subscription);
        this.#releases ||= had !== undefined && keysOf(had).some((key) => !keys.includes(key));
      }
    });
  }

  /** First all that devices give up, then all that they take: an identifier may pass from one to another. */
  async write(source: Source<DeviceRecord>): Promise<void> {
    if (this.#releases) {
      await eachBatch(source(), async (records) => {
        const release = ({ content }: Placed<DeviceRecord>, signal: AbortSignal) =>
          releaseIdentifiers(content, signal);
        await eachItem(records, ({ position }) => position, release);
      });
    }
    await eachBatch(source(), async (records) => {
      await together(records, (signal) => storeDevices(records, signal));
    });
  }
}

/**
 * Stores devices under their subscriptions and each of their identifiers. The items of subscriptions come first: they
 * list what `releaseIdentifiers` must find again, also if this is cut short.
 */
async function storeDevices(records: Devices, signal: AbortSignal): Promise<void> {
  const items = records.map(({ content }) => {
    const device = marshalled(content);
    return keysOf(content).map((key) => ({ ...device, identifier: { S: key } }));
  });
  await writeItems(
    table,
    items.flatMap(([subscription]) => subscription ?? []),
    signal,
  );
  await writeItems(
    table,
    items.flatMap(([, ...identifiers]) => identifiers),
    signal,
  );
}

function distinct(identifiers: readonly string[]): { readonly identifier: string }[] {
  return [...new Set(identifiers)].map((identifier) => ({ identifier }));
}

/** The field of a record that an item's key was made from. */
function fieldOf(key: string): string {
  const [kind] = key.split("#");
  return (
    { subscription: "subscription", phone: "phoneNumber", ipv4: "ipv4Addresses", ipv6: "ipv6Prefix" }[
      kind ?? ""
    ] ?? "identifiers"
  );
}
