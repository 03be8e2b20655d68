import { isIPv6 } from "node:net";
import * as z from "zod/mini";
import { networkOf } from "../ipv6.ts";
import { countryCode, ipv4Address, networkCode, phoneNumber } from "../schemas.ts";
import { subscriptionId } from "./subscription.ts";

const text = (maxLength: number) => z.string().check(z.minLength(1), z.maxLength(maxLength));

/** A subscription with its identifiers, rights and equipment, as the operator imports it. */
export const deviceRecord = z.object({
  subscription: subscriptionId,
  phoneNumber: z.optional(phoneNumber),
  ipv4Addresses: z.array(ipv4Address).check(z.maxLength(16)),
  ipv6Prefix: z.optional(
    z.string().check(z.refine(isIpv6Prefix, { message: "must be an IPv6 /64 prefix without host bits" })),
  ),
  country: countryCode,
  network: networkCode,
  /** Names of the QoS profiles it may use; if absent, all unrestricted ones of its country and network. */
  qosProfiles: z.optional(z.array(text(256)).check(z.maxLength(1_000))),
  imei: z
    .string()
    .check(
      z.regex(/^[0-9]{15}$/, "must be 15 digits"),
      z.refine(hasCheckDigit, { message: "has a wrong check digit" }),
    ),
  softwareVersion: z.string().check(z.regex(/^[0-9]{2}$/, "must be two digits")),
  model: text(256),
  manufacturer: text(256),
  lastChecked: z.iso.datetime({ offset: true }),
  /** Whether the subscriber lets others learn the device's identifiers. */
  identifierConsent: z.boolean(),
  /** Names of the areas whose service does not apply to this device; an import checks that they exist. */
  notApplicable: z.optional(z.array(text(64))),
});

/** A device as stored. */
export type DeviceRecord = z.infer<typeof deviceRecord>;

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
