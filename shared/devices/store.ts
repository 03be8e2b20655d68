import { deleteItem, getItem } from "../aws/database.ts";
import { failInSandbox } from "../sandbox/failing-numbers.ts";
import { hasAddress, type Identifier, keysOf } from "./keys.ts";
import type { DeviceRecord } from "./record.ts";
import { devices } from "./table.ts";

/**
 * Finds the device with an identifier, with one read whether the identifier is known or not.
 * @throws {ApiError} for a number of the sandbox that makes every operation fail.
 */
export async function findDevice(
  identifier: Identifier,
  signal: AbortSignal,
): Promise<DeviceRecord | undefined> {
  failInSandbox(identifier.device);
  const record = await getItem(devices, { identifier: identifier.key }, signal);
  const { ipv4Address: address } = identifier.device;
  return record === undefined || (address !== undefined && !hasAddress(record, address)) ? undefined : record;
}

/**
 * Deletes the items of identifiers that a device no longer has. The others are not touched, so that a device never
 * disappears while it is replaced.
 */
export async function releaseIdentifiers(device: DeviceRecord, signal: AbortSignal): Promise<void> {
  const [subscription, ...kept] = keysOf(device);
  const before = await getItem(devices, { identifier: subscription }, signal);
  if (before === undefined) return;
  const released = keysOf(before).filter((key) => key !== subscription && !kept.includes(key));
  const ours = {
    condition: "subscription = :subscription",
    values: { ":subscription": device.subscription },
  };
  await Promise.all(released.map((identifier) => deleteItem(devices, { identifier }, ours, signal)));
}

/** Deletes a device, its subscription last, so that an interrupted deletion can be repeated. */
export async function deleteDevice(device: DeviceRecord, signal: AbortSignal): Promise<void> {
  const [subscription, ...identifiers] = keysOf(device);
  const ours = {
    condition: "subscription = :subscription",
    values: { ":subscription": device.subscription },
  };
  await Promise.all(identifiers.map((identifier) => deleteItem(devices, { identifier }, ours, signal)));
  await deleteItem(devices, { identifier: subscription }, ours, signal);
}
