import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

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
