import { putItem } from "../../shared/aws/database.ts";
import { keysOf } from "../../shared/devices/keys.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { devices } from "../../shared/devices/table.ts";

/** An ordinary device of a Spanish subscriber, with no identifier but its subscription. */
export const plainDevice: DeviceRecord = {
  subscription: "s-1",
  ipv4Addresses: [],
  country: "ES",
  network: "21407",
  imei: "490154203237518",
  softwareVersion: "01",
  model: "3110",
  manufacturer: "Nokia",
  lastChecked: "2026-02-20T10:41:38Z",
  identifierConsent: true,
};

/** Stores a device under its subscription and each of its identifiers, as an import does. */
export async function storeDevice(device: DeviceRecord): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  await Promise.all(
    keysOf(device).map((identifier) => putItem(devices, { identifier, ...device }, {}, signal)),
  );
}
