import { recordAccess } from "../../shared/access-records/record-access.ts";
import { identifiersOf } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { subjectOf } from "../../shared/devices/subject.ts";
import { serve } from "../../shared/http/serve.ts";
import { retrieveQosProfiles } from "./contract.ts";
import { isListed } from "./rules.ts";
import { allQosProfiles } from "./store.ts";

/** Lists the profiles that match; those available to the subject when there is one. */
export const handler = serve(retrieveQosProfiles, async (request) => {
  const { body, caller, signal, reply, refuse } = request;
  const subject = subjectOf(caller, body.device && identifiersOf(body.device));
  if (subject === undefined)
    return reply(200, (await allQosProfiles(signal)).filter(isListed(undefined, body)));
  if ("refused" in subject) throw refuse(subject.refused);

  const [device, profiles] = await Promise.all([
    findDevice(subject.identifier, signal),
    allQosProfiles(signal),
  ]);
  if (device === undefined) throw refuse("IDENTIFIER_NOT_FOUND");
  if (device.notApplicable?.includes("qos-profiles")) throw refuse("SERVICE_NOT_APPLICABLE");
  const { subscription } = device;
  await recordAccess({ subscription, kind: "qos-profiles", by: caller }, request);
  return reply(200, profiles.filter(isListed(device, body)));
});
