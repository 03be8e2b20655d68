import { identifiersOf } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { subjectOf } from "../../shared/devices/subject.ts";
import { serve } from "../../shared/http/serve.ts";
import { retrieveIdentifier } from "./contract.ts";
import { areInconsistent, equipmentNumbers } from "./rules.ts";

/** Returns the device that a subscriber uses: the one whose identifier was sent, or the subject of the token. */
export const handler = serve(retrieveIdentifier, async ({ body, caller, signal, reply, refuse }) => {
  const identifiers = body.device && identifiersOf(body.device);
  const subject = subjectOf(caller, identifiers);
  if (subject === undefined) throw refuse("MISSING_IDENTIFIER");
  if ("refused" in subject) throw refuse(subject.refused);

  const others = identifiers?.slice(1) ?? [];
  const reads = [subject.identifier, ...others].map((identifier) => findDevice(identifier, signal));
  const [device, ...rest] = await Promise.all(reads);
  if (device === undefined) throw refuse("IDENTIFIER_NOT_FOUND");
  if (areInconsistent([device, ...rest])) {
    throw refuse("INVALID_ARGUMENT", { message: "The identifiers do not belong to one device." });
  }
  if (caller.subscription === undefined && !device.identifierConsent) {
    throw refuse("PERMISSION_DENIED", { message: "The subscriber has not consented to this." });
  }
  if (device.notApplicable?.includes("device-identifier")) throw refuse("SERVICE_NOT_APPLICABLE");
  const { lastChecked, model, manufacturer } = device;
  const isOneOfSeveral = Object.keys(body.device ?? {}).length > 1;
  return reply(200, {
    ...(isOneOfSeveral ? { device: subject.identifier.device } : {}),
    lastChecked,
    ...equipmentNumbers(device),
    model,
    manufacturer,
  });
});
