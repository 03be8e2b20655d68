import { recordAccess } from "../../shared/access-records/record-access.ts";
import { subscriptionIdentifier } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { serve } from "../../shared/http/serve.ts";
import { getQosProfile } from "./contract.ts";
import { isAvailableTo } from "./rules.ts";
import { findQosProfile } from "./store.ts";
import type { QosProfileRecord } from "./tables.ts";

/** Reads one profile; to a 3-legged token it exists only if it is available to the subject. */
export const handler = serve(getQosProfile, async (request) => {
  const { parameters, caller, signal, reply, refuse } = request;
  const { subscription } = caller;
  const [device, profile] = await Promise.all([
    subscription === undefined ? undefined : findDevice(subscriptionIdentifier(subscription), signal),
    findQosProfile(parameters.name, signal),
  ]);
  // To say that a profile exists but is not for the device would disclose as much about the subscriber as the profile.
  if (device !== undefined && profile !== undefined) {
    await recordAccess({ subscription: device.subscription, kind: "qos-profiles", by: caller }, request);
  }
  const isVisible = (found: QosProfileRecord) =>
    subscription === undefined || (device !== undefined && isAvailableTo(device, found));
  if (profile === undefined || !isVisible(profile)) {
    throw refuse("NOT_FOUND", {
      message: "There is no QoS profile with this name, or none for this subject.",
    });
  }
  return reply(200, profile);
});
