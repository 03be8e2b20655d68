import { holderOn } from "../../functions/number-recycling/rules.ts";
import { historyOf } from "../../functions/number-recycling/store.ts";
import { checkConnection } from "../../shared/aws/connection.ts";
import { getItem } from "../../shared/aws/database.ts";
import { dayOf } from "../../shared/calendar.ts";
import { phoneIdentifier } from "../../shared/devices/keys.ts";
import { devices } from "../../shared/devices/table.ts";
import { phoneNumber } from "../../shared/schemas.ts";
import { type Subject, storedData } from "./stored-data.ts";
import { patience, type StoredData } from "./stored-items.ts";

/**
 * Finds a person and all that is stored about them.
 * @param named a subscription, or a phone number, which begins with `+`.
 * @throws {Error} when nothing is stored, so that a mistyped name is noticed, and when a number is of two persons.
 */
export async function storedAbout(
  named: string,
): Promise<{ readonly subject: Subject; readonly data: readonly StoredData[] }> {
  await checkConnection(devices);
  const subscription = named.startsWith("+") ? await holderOf(named) : named;
  const subject = { subscription: subscription ?? "", named };
  const data = subscription === undefined ? [] : await storedData(subject);
  if (data.length === 0) throw new Error("nothing is stored about this person");
  return { subject, data };
}

/** The subscription whose device has a number, or which holds it now. */
async function holderOf(number: string): Promise<string | undefined> {
  if (!phoneNumber.safeParse(number).success)
    throw new Error("this is no phone number: expected + and 5 to 15 digits, such as +34600000001");
  const signal = patience();
  const [device, history] = await Promise.all([
    getItem(devices, { identifier: phoneIdentifier(number).key }, signal),
    historyOf(number, signal),
  ]);
  const holder = holderOn(dayOf(new Date()), history);
  const [one, other] = new Set([device?.subscription, holder].filter((found) => found !== undefined));
  if (other === undefined) return one;
  // One would be taken for the other.
  throw new Error(`the number is that of the device of ${one}, but ${other} holds it: name the subscription`);
}
