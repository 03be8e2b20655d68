import { networkOf } from "../ipv6.ts";
import type { Device, Ipv4Address } from "../schemas.ts";
import type { DeviceRecord } from "./record.ts";

/** One identifier of a device: the key of its item, and the identifier as in the request. */
export interface Identifier {
  readonly key: string;
  /** Has one member; none for a token's subscription. */
  readonly device: Device;
}

const subscriptionKey = (subscription: string) => `subscription#${subscription}`;
const phoneKey = (number: string) => `phone#${number}`;
const portKey = (publicAddress: string, publicPort: number) => `ipv4#${publicAddress}#port#${publicPort}`;
const privateKey = (publicAddress: string, privateAddress: string) =>
  `ipv4#${publicAddress}#private#${privateAddress}`;
const ipv6Key = (address: string) => `ipv6#${networkOf(address)}`;

/** Without NAT, both addresses are the same and the port is irrelevant. */
function isBehindNat({ publicAddress, privateAddress }: Ipv4Address): boolean {
  return privateAddress !== publicAddress;
}

/** Behind a NAT, the public port identifies the device if it is given; otherwise the private address does. */
function ipv4Key(address: Ipv4Address): string | undefined {
  const { publicAddress, privateAddress, publicPort } = address;
  if (publicPort !== undefined && isBehindNat(address)) return portKey(publicAddress, publicPort);
  return privateAddress === undefined ? undefined : privateKey(publicAddress, privateAddress);
}

/** The identifier of the subscription that a 3-legged token is bound to. */
export function subscriptionIdentifier(subscription: string): Identifier {
  return { key: subscriptionKey(subscription), device: {} };
}

/** The identifier of a phone number. */
export function phoneIdentifier(phoneNumber: string): Identifier {
  return { key: phoneKey(phoneNumber), device: { phoneNumber } };
}

/** The supported identifiers of a request, in order of precedence: phone number, IPv4, IPv6. */
export function identifiersOf({ phoneNumber, ipv4Address, ipv6Address }: Device): Identifier[] {
  const identifiers: Identifier[] = [];
  if (phoneNumber !== undefined) identifiers.push(phoneIdentifier(phoneNumber));
  if (ipv4Address !== undefined) {
    const key = ipv4Key(ipv4Address);
    if (key !== undefined) identifiers.push({ key, device: { ipv4Address } });
  }
  if (ipv6Address !== undefined) identifiers.push({ key: ipv6Key(ipv6Address), device: { ipv6Address } });
  return identifiers;
}

/** The keys of all items of a device: first that of its subscription, then one per identifier. */
export function keysOf(record: DeviceRecord): [string, ...string[]] {
  const keys = record.ipv4Addresses.flatMap(({ publicAddress, privateAddress, publicPort }) => [
    ...(publicPort === undefined ? [] : [portKey(publicAddress, publicPort)]),
    ...(privateAddress === undefined ? [] : [privateKey(publicAddress, privateAddress)]),
  ]);
  if (record.phoneNumber !== undefined) keys.push(phoneKey(record.phoneNumber));
  if (record.ipv6Prefix !== undefined) keys.push(ipv6Key(record.ipv6Prefix.slice(0, -"/64".length)));
  return [subscriptionKey(record.subscription), ...new Set(keys)];
}

/** Whether an address of a request is one of a device's: no part of it contradicts what is stored. */
export function hasAddress(record: DeviceRecord, address: Ipv4Address): boolean {
  return record.ipv4Addresses.some(
    ({ publicAddress, privateAddress, publicPort }) =>
      publicAddress === address.publicAddress &&
      (!isBehindNat(address) || publicPort === address.publicPort || address.publicPort === undefined) &&
      (address.privateAddress === undefined || [undefined, address.privateAddress].includes(privateAddress)),
  );
}
