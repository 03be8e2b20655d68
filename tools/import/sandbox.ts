import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { type SandboxNumber, sandboxNumbers } from "../../shared/sandbox/numbers.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { devices } from "./devices.ts";
import { importFile } from "./import-file.ts";
import { numberAssignments } from "./number-assignments.ts";

/**
 * Imports the devices and the histories of the sandbox's numbers, as from an operator's files. Repeating it changes
 * nothing.
 * @returns how many records were written.
 */
export async function importSandbox(): Promise<number> {
  const { path, remove } = temporaryFolder("network-capabilities-sandbox-");
  const fileOf = async (name: string, records: readonly object[]) => {
    await writeFile(join(path, name), JSON.stringify(records));
    return join(path, name);
  };
  try {
    const [deviceFile, historyFile] = await Promise.all([
      fileOf(devices.file, sandboxNumbers.flatMap(deviceOf)),
      fileOf(numberAssignments.file, sandboxNumbers.flatMap(historyOf)),
    ]);
    return (await importFile(devices, deviceFile)) + (await importFile(numberAssignments, historyFile));
  } finally {
    remove();
  }
}

function deviceOf({ phoneNumber, device }: SandboxNumber): readonly DeviceRecord[] {
  if (device === undefined) return [];
  const { imei, identifierConsent = true, qosProfiles, notApplicable } = device;
  return [
    {
      subscription: `sandbox-${phoneNumber.slice(1)}`,
      phoneNumber,
      ipv4Addresses: [],
      country: "ES",
      network: "21407",
      imei,
      softwareVersion: "01",
      model: "Sandbox",
      manufacturer: "Nobody",
      lastChecked: "2026-01-01T00:00:00Z",
      identifierConsent,
      ...(qosProfiles && { qosProfiles: [...qosProfiles] }),
      ...(notApplicable && { notApplicable: [...notApplicable] }),
    },
  ];
}

function historyOf({ phoneNumber, history = [] }: SandboxNumber) {
  return history.map((assignment) => ({ phoneNumber, ...assignment }));
}
