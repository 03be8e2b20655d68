import { getItem, putItem, queryPartition } from "../../shared/aws/database.ts";
import { type QosProfileRecord, qosProfileRecord } from "./contract.ts";

const partition = "qos-profiles";

/** The whole catalogue, by name. */
export function allQosProfiles(signal: AbortSignal): Promise<QosProfileRecord[]> {
  return queryPartition("qos-profiles", partition, qosProfileRecord, signal);
}

/** One profile of the catalogue. */
export function findQosProfile(name: string, signal: AbortSignal): Promise<QosProfileRecord | undefined> {
  return getItem("qos-profiles", { catalogue: partition, name }, qosProfileRecord, signal);
}

/** Puts a profile into the catalogue, in place of the one with its name. */
export async function replaceQosProfile(profile: QosProfileRecord, signal: AbortSignal): Promise<void> {
  await putItem("qos-profiles", { catalogue: partition, ...profile }, {}, signal);
}
