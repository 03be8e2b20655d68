import { recordAccess } from "../../shared/access-records/record-access.ts";
import type { DataKind } from "../../shared/access-records/table.ts";
import { identifiersOf } from "../../shared/devices/keys.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { subjectOf } from "../../shared/devices/subject.ts";
import type { Request } from "../../shared/http/request.ts";
import type { Device } from "../../shared/schemas.ts";
import type { retrieveIdentifier, retrievePpid, retrieveType } from "./contract.ts";
import { subscriptionsOf } from "./rules.ts";

const identifierIsMissing =
  "The access token identifies no device: send phoneNumber, ipv4Address or ipv6Address as a member of device.";

/** A device of which the caller may learn. */
interface KnownDevice {
  readonly record: DeviceRecord;
  /** The members that every response begins with. */
  readonly common: { readonly device?: Device; readonly lastChecked: string };
}

/**
 * Finds the device that a request is about, the one whose identifier was sent or that of the token's subject, and
 * records that the caller learns of it; also when the caller learns that the identifiers belong to several.
 * @param kind what the caller asks for.
 * @throws {ApiError} the code with which the request is refused.
 */
export async function deviceOf(
  request: Request<typeof retrieveIdentifier> | Request<typeof retrieveType> | Request<typeof retrievePpid>,
  kind: DataKind,
): Promise<KnownDevice> {
  const { body, caller, isAlias, signal, refuse } = request;
  const identifiers = body.device && identifiersOf(body.device);
  const subject = subjectOf(caller, identifiers);
  if (subject === undefined) throw refuse("MISSING_IDENTIFIER", { message: identifierIsMissing });
  if ("refused" in subject) throw refuse(subject.refused);

  // An alias answers as its release: identifiers are not compared.
  const others = isAlias ? [] : (identifiers?.slice(1) ?? []);
  const reads = [subject.identifier, ...others].map((identifier) => findDevice(identifier, signal));
  const [record, ...rest] = await Promise.all(reads);
  if (record === undefined) throw refuse("IDENTIFIER_NOT_FOUND");
  const resolved = [record, ...rest.filter((device) => device !== undefined)];
  // Before the identifiers are compared: who belongs to whom is told only if all subscribers have consented.
  if (caller.subscription === undefined && !resolved.every((device) => device.identifierConsent)) {
    throw refuse("PERMISSION_DENIED", { message: "The subscriber has not consented to this." });
  }
  const subscriptions = subscriptionsOf(resolved);
  if (subscriptions.length > 1) {
    await recordAccesses(subscriptions);
    throw refuse("INVALID_ARGUMENT", { message: "The identifiers do not belong to one device." });
  }
  if (record.notApplicable?.includes("device-identifier")) throw refuse("SERVICE_NOT_APPLICABLE");
  await recordAccesses(subscriptions);
  const isOneOfSeveral = Object.keys(body.device ?? {}).length > 1;
  const used = isOneOfSeveral ? { device: subject.identifier.device } : {};
  return { record, common: { ...used, lastChecked: record.lastChecked } };

  async function recordAccesses(about: readonly string[]): Promise<void> {
    await Promise.all(about.map((subscription) => recordAccess({ subscription, kind, by: caller }, request)));
  }
}
