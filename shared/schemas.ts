import { isIPv6 } from "node:net";
import * as z from "zod/mini";
import { instantOf } from "./calendar.ts";
import type { Code } from "./errors.ts";

/** Gives a schema issue an error code of its own; read by `http/invalid.ts`. */
export const asks = (code: Code) => ({ params: { code } });

/** A point in time, RFC 3339 with a zone. */
export const dateTime = (description: string) =>
  z.string().check(
    z.refine((text) => instantOf(text) !== undefined, {
      message: "must be a date-time with a zone (RFC 3339) such as 2026-11-23T11:25:00Z",
    }),
    z.meta({ format: "date-time", description }),
  );

/** Adds a description for the OpenAPI document. A schema with an `id` must be made optional first. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(z.meta({ description }));
}

/** The body of every error (specification 2.14). */
export const errorBody = z
  .object({
    status: z.int().check(z.meta({ description: "HTTP status code.", minimum: 400, maximum: 599 })),
    code: z.string().check(z.meta({ description: "Error code." })),
    message: z.string().check(z.meta({ description: "What went wrong, for a person to read." })),
  })
  .check(
    z.meta({
      id: "ErrorInfo",
      description:
        "The body of every error, also that of a path that does not exist (404) and of a verb that a path does " +
        "not have (405, with those that it has in `Allow`).",
    }),
  );

/** Checks that a number is within an inclusive range; their issues name both ends. */
export function between(minimum: number, maximum: number) {
  const expected = `must be between ${minimum} and ${maximum}`;
  return [z.minimum(minimum, expected), z.maximum(maximum, expected)] as const;
}

/** The format of `x-correlator`, for messages. */
export const correlatorForm = "must be at most 256 of the characters a-z A-Z 0-9 - _ : ; . / < > { }";

/** A correlation id (behaviour section 2): chosen by the caller, echoed in every response. */
export const correlator = z.string().check(
  z.regex(/^[a-zA-Z0-9\-_:;./<>{}]{0,256}$/),
  z.meta({
    id: "XCorrelator",
    description: "Correlation id.",
    examples: ["b4333c46-49c0-4f62-80d7-f0ef930f1c46"],
  }),
);

/** E.164 with a leading plus. */
export const phoneNumber = z
  .string()
  .check(
    z.regex(/^\+[1-9][0-9]{4,14}$/, "must be + and 5 to 15 digits, the first of them not 0 (E.164)"),
    z.meta({ id: "PhoneNumber", description: "E.164 number with a leading +.", examples: ["+34600000001"] }),
  );

/** One IPv4 address: dotted quads, no mask, no leading zeros. */
const singleIpv4Address = z.ipv4("must be one IPv4 address such as 203.0.113.10, without a mask").check(
  z.meta({
    id: "SingleIpv4Address",
    description: "One IPv4 address without a mask.",
    examples: ["203.0.113.10"],
  }),
);

/** A TCP or UDP port. A number outside 0–65535 is `OUT_OF_RANGE`, anything else `INVALID_ARGUMENT`. */
const port = z.number().check(
  z.refine(Number.isInteger, { abort: true, message: "must be an integer" }),
  z.refine((value) => value >= 0 && value <= 65_535, {
    ...asks("OUT_OF_RANGE"),
    message: "must be between 0 and 65535",
  }),
  z.meta({
    id: "Port",
    description: "A TCP or UDP port.",
    type: "integer",
    minimum: 0,
    maximum: 65_535,
    examples: [59_765],
  }),
);

/** A country, two letters (ISO 3166-2). */
export const countryCode = z.string().check(z.regex(/^[A-Z]{2}$/, "must be two capital letters (ISO 3166)"));

/** A mobile network: its country code and network code, five or six digits. */
export const networkCode = z
  .string()
  .check(z.regex(/^[0-9]{5,6}$/, "must be five or six digits: country code and network code"));

/** How a device is seen through a NAT (specification 2.10). */
export const ipv4Address = z
  .object({
    publicAddress: singleIpv4Address,
    privateAddress: described(
      z.optional(singleIpv4Address),
      "The address behind the NAT; without one, the public address again.",
    ),
    publicPort: described(z.optional(port), "The port on the public address."),
  })
  .check(
    z.refine(({ privateAddress, publicPort }) => privateAddress !== undefined || publicPort !== undefined, {
      message: "must have privateAddress or publicPort in addition to publicAddress",
    }),
    z.meta({
      id: "Ipv4Address",
      description: "The public address of a device, with its private address or its public port.",
      anyOf: [{ required: ["privateAddress"] }, { required: ["publicPort"] }],
      examples: [{ publicAddress: "203.0.113.10", publicPort: 59_765 }],
    }),
  );

/** How a device is seen through a NAT. */
export type Ipv4Address = z.infer<typeof ipv4Address>;

/** One IPv6 address, no prefix, no zone; it means the /64 it lies in. */
const ipv6Address = z.string().check(
  z.refine((address) => isIPv6(address) && !address.includes("%"), {
    message: "must be one IPv6 address such as 2001:db8:1:1::1, without a prefix and a zone",
  }),
  z.meta({
    id: "Ipv6Address",
    format: "ipv6",
    description: "Any one address of the device's /64 network.",
    examples: ["2001:db8:1:1::1"],
  }),
);

/** A public subscription identifier, `local@domain`. Parsed, but not yet used (specification 2.9). */
const networkAccessIdentifier = z.string().check(
  z.maxLength(253),
  z.regex(/^[^@\s]+@[^@\s]+$/, "must be local@domain"),
  z.meta({
    id: "NetworkAccessIdentifier",
    description: "Reserved: alone it is refused, with another identifier it is ignored.",
    examples: ["123456789@example.com"],
  }),
);

const identifiers = {
  phoneNumber: z.optional(phoneNumber),
  ipv4Address: z.optional(ipv4Address),
  ipv6Address: z.optional(ipv6Address),
  networkAccessIdentifier: z.optional(networkAccessIdentifier),
};

/** The device that a request is about (specification 2.9): at least one identifier. */
export const device = z.object(identifiers).check(
  z.refine((value) => Object.keys(value).length > 0, {
    message: "must have one of phoneNumber, ipv4Address, ipv6Address, networkAccessIdentifier",
  }),
  z.meta({
    id: "Device",
    anyOf: Object.keys(identifiers).map((name) => ({ required: [name] })),
    description:
      "A device, by one identifier or more. The first present of phoneNumber, ipv4Address, ipv6Address decides.",
    examples: [{ phoneNumber: "+34600000001" }],
  }),
);

/** The identifiers of a device, as in a request. */
export type Device = z.infer<typeof device>;
