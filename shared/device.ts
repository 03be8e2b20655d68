import { isIPv6 } from "node:net";
import * as z from "zod/mini";
import { deleteItem, getItem, putItem } from "./aws/database.ts";
import { networkOf } from "./ipv6.ts";
import {
  countryCode,
  type Device,
  type Ipv4Address,
  ipv4Address,
  networkCode,
  phoneNumber,
} from "./schemas.ts";
import { subscriptionId } from "./subscription.ts";

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));

/** A subscription with its identifiers, rights and equipment, as the operator keeps it. */
export const deviceRecord = z.object({
  subscription: subscriptionId,
  phoneNumber: z.optional(phoneNumber),
  ipv4Addresses: z.array(ipv4Address).check(z.maxLength(16)),
  ipv6Prefix: z.optional(
    z.string().check(z.refine(isIpv6Prefix, { message: "must be an IPv6 /64 prefix without host bits" })),
  ),
  country: countryCode,
  network: networkCode,
  /** Names of the QoS profiles it may use; absent: all unrestricted ones of its country and network. */
  qosProfiles: z.optional(z.array(text(256)).check(z.maxLength(1_000))),
  imei: z
    .string()
    .check(z.regex(/^[0-9]{15}$/), z.refine(hasCheckDigit, { message: "has a wrong check digit" })),
  softwareVersion: z.string().check(z.regex(/^[0-9]{2}$/)),
  model: text(256),
  manufacturer: text(256),
  lastChecked: z.iso.datetime({ offset: true }),
  /** Whether the subscriber lets others learn the device's identifiers. */
  identifierConsent: z.boolean(),
  /** Areas whose service does not apply to this device. */
  notApplicable: z.optional(z.array(z.enum(["qos-profiles", "number-recycling", "device-identifier"]))),
});

/** A device as the table holds it. */
export type DeviceRecord = z.infer<typeof deviceRecord>;

/** One identifier of a device: the key of its item, and the identifier as it was sent. */
export interface Identifier {
  readonly key: string;
  /** Holds one member; none for the subscription of a token. */
  readonly sent: Device;
}

/** The Luhn check of a whole IMEI (3GPP TS 23.003, annex B). */
function hasCheckDigit(imei: string): boolean {
  const sum = [...imei].reduceRight((total, digit, index) => {
    const doubled = (imei.length - 1 - index) % 2 === 1 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

function isIpv6Prefix(prefix: string): boolean {
  const [address = "", length, ...rest] = prefix.split("/");
  if (length !== "64" || rest.length > 0 || !isIPv6(address) || address.includes("%")) return false;
  return new URL(`http://[${networkOf(address)}::]`).href === new URL(`http://[${address}]`).href;
}

const subscriptionKey = (subscription: string) => `subscription#${subscription}`;
const phoneKey = (number: string) => `phone#${number}`;
const portKey = (publicAddress: string, publicPort: number) => `ipv4#${publicAddress}#port#${publicPort}`;
const privateKey = (publicAddress: string, privateAddress: string) =>
  `ipv4#${publicAddress}#private#${privateAddress}`;
const ipv6Key = (address: string) => `ipv6#${networkOf(address)}`;

/** Without NAT both addresses are the same, and the port says nothing. */
function isBehindNat({ publicAddress, privateAddress }: Ipv4Address): boolean {
  return privateAddress !== publicAddress;
}

/** Behind a NAT the public port decides when it is given; else the private address does. */
function ipv4Key(address: Ipv4Address): string | undefined {
  const { publicAddress, privateAddress, publicPort } = address;
  if (publicPort !== undefined && isBehindNat(address)) return portKey(publicAddress, publicPort);
  return privateAddress === undefined ? undefined : privateKey(publicAddress, privateAddress);
}

/** The subscription a 3-legged token is tied to. */
export function subscriptionIdentifier(subscription: string): Identifier {
  return { key: subscriptionKey(subscription), sent: {} };
}

/** A phone number that was sent. */
export function phoneIdentifier(phoneNumber: string): Identifier {
  return { key: phoneKey(phoneNumber), sent: { phoneNumber } };
}

/** The supported identifiers of a request in the order in which they decide: phone number, IPv4, IPv6. */
export function identifiersOf({ phoneNumber, ipv4Address, ipv6Address }: Device): Identifier[] {
  const identifiers: Identifier[] = [];
  if (phoneNumber !== undefined) identifiers.push(phoneIdentifier(phoneNumber));
  if (ipv4Address !== undefined) {
    const key = ipv4Key(ipv4Address);
    if (key !== undefined) identifiers.push({ key, sent: { ipv4Address } });
  }
  if (ipv6Address !== undefined) identifiers.push({ key: ipv6Key(ipv6Address), sent: { ipv6Address } });
  return identifiers;
}

/** The key of every item that stands for a device: its subscription first, then each identifier. */
export function keysOf(record: DeviceRecord): [string, ...string[]] {
  const keys = record.ipv4Addresses.flatMap(({ publicAddress, privateAddress, publicPort }) => [
    ...(publicPort === undefined ? [] : [portKey(publicAddress, publicPort)]),
    ...(privateAddress === undefined ? [] : [privateKey(publicAddress, privateAddress)]),
  ]);
  if (record.phoneNumber !== undefined) keys.push(phoneKey(record.phoneNumber));
  if (record.ipv6Prefix !== undefined) keys.push(ipv6Key(record.ipv6Prefix.slice(0, -"/64".length)));
  return [subscriptionKey(record.subscription), ...new Set(keys)];
}

/** Whether an address that was sent is one of a device's: no part of it is known to be another. */
function hasAddress(record: DeviceRecord, sent: Ipv4Address): boolean {
  return record.ipv4Addresses.some(
    ({ publicAddress, privateAddress, publicPort }) =>
      publicAddress === sent.publicAddress &&
      (!isBehindNat(sent) || publicPort === sent.publicPort || sent.publicPort === undefined) &&
      (sent.privateAddress === undefined || [undefined, sent.privateAddress].includes(privateAddress)),
  );
}

/** Finds the device an identifier stands for: one item read, whatever the identifier, known or not. */
export async function findDevice(
  identifier: Identifier,
  signal: AbortSignal,
): Promise<DeviceRecord | undefined> {
  const record = await getItem("devices", { identifier: identifier.key }, deviceRecord, signal);
  const { ipv4Address: sent } = identifier.sent;
  return record === undefined || (sent !== undefined && !hasAddress(record, sent)) ? undefined : record;
}

/** To whom the identifiers of a device belong now; those that nobody has are left out. */
export async function ownersOf(
  device: DeviceRecord,
  signal: AbortSignal,
): Promise<{ readonly key: string; readonly owner: string }[]> {
  const found = await Promise.all(
    keysOf(device).map(async (key) => {
      const record = await getItem("devices", { identifier: key }, deviceRecord, signal);
      return record === undefined ? [] : [{ key, owner: record.subscription }];
    }),
  );
  return found.flat();
}

/**
 * Deletes the items of identifiers that a device had and has no longer. Identifiers that stay are not touched,
 * so a device never disappears while it is replaced.
 */
export async function releaseIdentifiers(device: DeviceRecord, signal: AbortSignal): Promise<void> {
  const [subscription, ...kept] = keysOf(device);
  const before = await getItem("devices", { identifier: subscription }, deviceRecord, signal);
  if (before === undefined) return;
  const released = keysOf(before).filter((key) => key !== subscription && !kept.includes(key));
  const ours = {
    condition: "subscription = :subscription",
    values: { ":subscription": device.subscription },
  };
  await Promise.all(released.map((identifier) => deleteItem("devices", { identifier }, ours, signal)));
}

/**
 * Stores a device under its subscription and each of its identifiers. The subscription's item comes first: it
 * lists what `releaseIdentifiers` must find again, also if this is cut short.
 * @throws {Error} when an identifier belongs to another subscription.
 */
export async function storeDevice(device: DeviceRecord, signal: AbortSignal): Promise<void> {
  const free = {
    condition: "attribute_not_exists(identifier) OR subscription = :subscription",
    values: { ":subscription": device.subscription },
  };
  const [subscription, ...identifiers] = keysOf(device);
  const store = async (identifier: string) => {
    if (await putItem("devices", { identifier, ...device }, free, signal)) return;
    throw new Error("an identifier belongs to another subscription");
  };
  await store(subscription);
  await Promise.all(identifiers.map(store));
}
