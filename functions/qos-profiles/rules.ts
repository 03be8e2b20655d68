import type { DeviceRecord } from "../../shared/devices/record.ts";
import { type Duration, durationUnits, type QosProfile, type Rate, rateUnits } from "./contract.ts";
import type { QosProfileRecord } from "./tables.ts";

/** The criteria of a request; all that are given must hold (specification 4.2). */
export interface Criteria {
  readonly name?: string | undefined;
  readonly status?: QosProfile["status"] | undefined;
}

/**
 * Whether a profile is available to a device (behaviour section 6): the device's own list decides, and without
 * one, whether the profile is unrestricted and available in the device's country and network.
 */
export function isAvailableTo(device: DeviceRecord, profile: QosProfileRecord): boolean {
  if (device.notApplicable?.includes("qos-profiles")) return false;
  if (device.qosProfiles !== undefined) return device.qosProfiles.includes(profile.name);
  if (profile.restricted) return false;
  return (
    profile.countryAvailability === undefined ||
    profile.countryAvailability.some(
      ({ countryName, networks }) =>
        countryName === device.country && (networks === undefined || networks.includes(device.network)),
    )
  );
}

/** Whether a profile is listed: for a device if it is available to it; without a device if it is not restricted. */
export function isListed(device: DeviceRecord | undefined, { name, status }: Criteria) {
  return (profile: QosProfileRecord): boolean =>
    (device === undefined ? !profile.restricted : isAvailableTo(device, profile)) &&
    (name === undefined || profile.name === name) &&
    (status === undefined || profile.status === status);
}

/** Pairs of members of which the first must not exceed the second. */
const rateOrder = [
  ["targetMinUpstreamRate", "maxUpstreamRate"],
  ["targetMinUpstreamRate", "maxUpstreamBurstRate"],
  ["maxUpstreamRate", "maxUpstreamBurstRate"],
  ["targetMinDownstreamRate", "maxDownstreamRate"],
  ["targetMinDownstreamRate", "maxDownstreamBurstRate"],
  ["maxDownstreamRate", "maxDownstreamBurstRate"],
] as const;

/** The first member of a profile that exceeds the one it must not exceed, in comparable units. */
export function contradictionIn(profile: QosProfile): keyof QosProfile | undefined {
  const wrong = rateOrder.find(([less, more]) =>
    exceeds(bitsPerSecond(profile[less]), bitsPerSecond(profile[more])),
  );
  if (wrong !== undefined) return wrong[0];
  return exceeds(nanoseconds(profile.minDuration), nanoseconds(profile.maxDuration))
    ? "minDuration"
    : undefined;
}

/** Without a value or a unit there is nothing to compare. */
function exceeds(less: bigint | undefined, more: bigint | undefined): boolean {
  return less !== undefined && more !== undefined && less > more;
}

function bitsPerSecond(rate: Rate | undefined): bigint | undefined {
  return rate?.value === undefined || rate.unit === undefined
    ? undefined
    : BigInt(rate.value) * rateUnits[rate.unit];
}

function nanoseconds(duration: Duration | undefined): bigint | undefined {
  return duration?.value === undefined || duration.unit === undefined
    ? undefined
    : BigInt(duration.value) * durationUnits[duration.unit];
}
