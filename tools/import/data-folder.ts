import { existsSync } from "node:fs";
import { join } from "node:path";
import type * as z from "zod";
import { clients } from "./clients.ts";
import { demoData, hasDemoLogins, type RecordKind, requireDataFolder } from "./data-files.ts";
import { importDensityFolder } from "./density/density-folder.ts";
import { devices } from "./devices.ts";
import { type ImportKind, importFile } from "./import-file.ts";
import { numberAssignments } from "./number-assignments.ts";
import { profiles } from "./profiles.ts";
import { qosProfiles } from "./qos-profiles.ts";

/** Every kind of file of records that an operator can import. */
export const importKinds = {
  profiles,
  "qos-profiles": qosProfiles,
  devices,
  "number-assignments": numberAssignments,
  clients,
} as const satisfies Readonly<Record<RecordKind, unknown>>;

/**
 * Imports every file of a data folder that is there, and densities of the demo city where the folder has none. With
 * nothing but a model, everything else is the demo's.
 * @throws {ImportError} when a file is refused; {Error} when the folder has none of the files.
 */
export async function importFolder(folder: string): Promise<void> {
  requireDataFolder(folder);
  const kinds: readonly ImportKind<z.ZodType>[] = Object.values(importKinds) as ImportKind<z.ZodType>[];
  const records = hasDemoLogins(folder) ? demoData : folder;
  const present = kinds.filter(({ file }) => existsSync(join(records, file)));
  await Promise.all(present.map((kind) => importFile(kind, join(records, kind.file))));
  // Not concurrently: computing densities blocks the thread, and other calls would time out.
  await importDensityFolder(folder);
}
