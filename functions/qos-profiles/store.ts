import { deleteItem, getItem, putItem, queryPartition } from "../../shared/aws/database.ts";
import { ReadCache } from "../../shared/read-cache.ts";
import { type QosProfileRecord, qosProfiles } from "./tables.ts";

const partition = "qos-profiles";

const cacheBytes = 2 ** 22;
const jsonBytes = (found: object | undefined) => 2 * JSON.stringify(found ?? null).length;
const catalogues = new ReadCache<QosProfileRecord[]>(cacheBytes, jsonBytes);
const profiles = new ReadCache<QosProfileRecord | undefined>(cacheBytes, jsonBytes);

/** The whole catalogue, by name: up to `CACHE_SECONDS` old, eventually consistent. */
export function allQosProfiles(signal: AbortSignal): Promise<readonly QosProfileRecord[]> {
  return catalogues.get(partition, () => queryPartition(qosProfiles, partition, signal, "eventual"));
}

/** One profile of the catalogue: up to `CACHE_SECONDS` old, eventually consistent. */
export function findQosProfile(name: string, signal: AbortSignal): Promise<QosProfileRecord | undefined> {
  return profiles.get(name, () => getItem(qosProfiles, { catalogue: partition, name }, signal, "eventual"));
}

/** Stores a profile, replacing the one with the same name. */
export async function replaceQosProfile(profile: QosProfileRecord, signal: AbortSignal): Promise<void> {
  await putItem(qosProfiles, { catalogue: partition, ...profile }, {}, signal);
}

/** Deletes a profile. Returns whether there was one. */
export function deleteQosProfile(name: string, signal: AbortSignal): Promise<boolean> {
  const exists = { condition: "attribute_exists(catalogue)" };
  return deleteItem(qosProfiles, { catalogue: partition, name }, exists, signal);
}
