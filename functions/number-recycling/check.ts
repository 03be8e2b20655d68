import { recordAccess } from "../../shared/access-records/record-access.ts";
import { dayOf } from "../../shared/calendar.ts";
import { phoneIdentifier } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { subjectOf } from "../../shared/devices/subject.ts";
import { serve } from "../../shared/http/serve.ts";
import { checkNumberRecycling } from "./contract.ts";
import { begunBy, isRecycled } from "./rules.ts";
import { historyOf } from "./store.ts";

/** Returns whether the number sent, or that of the token's subject, has changed hands. */
export const handler = serve(checkNumberRecycling, async (request) => {
  const { body, caller, now, signal, reply, refuse } = request;
  const { specifiedDate, phoneNumber } = body;
  const today = dayOf(now);
  if (specifiedDate > today) {
    throw refuse("OUT_OF_RANGE", { message: "specifiedDate must not be after today (UTC)." });
  }
  const subject = subjectOf(caller, phoneNumber === undefined ? undefined : [phoneIdentifier(phoneNumber)]);
  if (subject === undefined) {
    throw refuse("MISSING_IDENTIFIER", {
      message: "The access token identifies no device: send phoneNumber.",
    });
  }
  if ("refused" in subject) throw refuse(subject.refused);

  const finding = findDevice(subject.identifier, signal);
  const number = phoneNumber ?? (await finding)?.phoneNumber;
  const [device, assigned] = await Promise.all([
    finding,
    number === undefined ? [] : historyOf(number, signal),
  ]);
  const history = begunBy(today, assigned);
  const last = history.at(-1);
  if (last === undefined) throw refuse("IDENTIFIER_NOT_FOUND");
  if (device?.notApplicable?.includes("number-recycling")) throw refuse("SERVICE_NOT_APPLICABLE");
  const subscription = device?.subscription ?? last.subscriber;
  await recordAccess({ subscription, kind: "number-history", by: caller }, request);
  return reply(200, { phoneNumberRecycled: isRecycled(history, specifiedDate, today) });
});
