import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's own demo data. */
export const demoData = fileURLToPath(new URL("../demo", import.meta.url));

/** The file of each kind of records in a data folder. */
export const recordFiles = {
  profiles: "profiles.json",
  "qos-profiles": "qos-profiles.json",
  devices: "devices.json",
  "number-assignments": "number-assignments.json",
  clients: "clients.json",
} as const;

/** A kind of records. */
export type RecordKind = keyof typeof recordFiles;

/** The density files of a data folder: counts, or else a model. */
export const densityFiles = {
  counted: ["density.csv", "density.ndjson"],
  model: "density-model.json",
  /** The coverage of the counts. */
  coverage: "density-coverage.geojson",
} as const;

const files = [...Object.values(recordFiles), ...densityFiles.counted, densityFiles.model];

/** @throws {Error} when a folder is not there or has no data. */
export function requireDataFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new Error(`--data: there is no folder ${folder}`);
  }
  if (!files.some((file) => existsSync(join(folder, file)))) {
    throw new Error(`--data: ${folder} holds none of ${files.join(", ")}`);
  }
}

/**
 * Whether a folder gets the logins of the demo data, whose passwords everybody knows: the demo's own, and one that holds
 * a model and nothing else.
 */
export function hasDemoLogins(folder: string): boolean {
  if (folder === demoData) return true;
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.length === 1 && files[0] === densityFiles.model;
}
