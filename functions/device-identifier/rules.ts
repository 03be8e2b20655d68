import { createHmac } from "node:crypto";
import type { DeviceRecord } from "../../shared/devices/record.ts";

/**
 * The numbers of a device (3GPP TS 23.003, 6.2): `imei` and `imeisv` share all but the end, `tac` is the start of both.
 */
interface EquipmentNumbers {
  readonly imei: string;
  readonly imeisv: string;
  readonly tac: string;
}

/** The numbers of a device, consistent with each other because they are made from one. */
export function equipmentNumbers({ imei, softwareVersion }: DeviceRecord): EquipmentNumbers {
  const withoutCheckDigit = imei.slice(0, 14);
  return { imei, imeisv: withoutCheckDigit + softwareVersion, tac: imei.slice(0, 8) };
}

/**
 * A client's pseudonym of a device: stable, unlike every other client's, and not to be computed without the key,
 * although there are few enough IMEIs to try them all. An IMEI has 15 digits, so no two pairs make one text.
 */
export function ppidOf(imei: string, client: string, key: string): string {
  return createHmac("sha256", Buffer.from(key, "base64url")).update(`${imei} ${client}`).digest("hex");
}

/** The subscriptions of some devices, each once. Several are those of inconsistent identifiers (specification 7.2). */
export function subscriptionsOf(devices: readonly DeviceRecord[]): readonly string[] {
  return [...new Set(devices.map(({ subscription }) => subscription))];
}
