import type { DeviceRecord } from "../../shared/devices/record.ts";

/** A device of a Spanish subscriber with nothing special about it, and no identifier but its subscription. */
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
