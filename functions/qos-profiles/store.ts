import { getItem, putItem, queryPartition } from "../../shared/aws/database.ts";
import { type QosProfileRecord, qosProfiles } from "./tables.ts";

const partition = "qos-profiles";

/** The whole catalogue, by name. */
export function allQosProfiles(signal: AbortSignal): Promise<QosProfileRecord[]> {
  return queryPartition(qosProfiles, partition, signal);
}

/** One profile of the catalogue. */
export function findQosProfile(name: string, signal: AbortSignal): Promise<QosProfileRecord | undefined> {
  return getItem(qosProfiles, { catalogue: partition, name }, signal);
}

/** Stores a profile, replacing the one with the same name. */
export async function replaceQosProfile(profile: QosProfileRecord, signal: AbortSignal): Promise<void> {
  await putItem(qosProfiles, { catalogue: partition, ...profile }, {}, signal);
}
