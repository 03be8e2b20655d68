import document from "../../docs/openapi.json" with { type: "json" };
import { areas } from "../../functions/areas.ts";
import { hashed } from "../../shared/hash.ts";
import { everyScope } from "../support/scopes.ts";

// Values that occur nowhere by chance.

export const address = "Zq.Canary@zq-mail.example";
export const password = "zq-password";
export const phoneNumber = "+34655501234";
export const unknownNumber = "+34655509876";
export const imei = "356938035643809";
const publicAddress = "198.51.100.77";
export const privateAddress = "10.77.66.55";
export const ipv6Address = "2001:db8:7a7a:9b9b::beef";
export const networkAccessIdentifier = "zq-access@zq-operator.example";
export const sinkToken = "zq-sink-token";

/** A public address behind which there are others. */
export const natted = { publicAddress, publicPort: 59_765 };

/** What must be found nowhere, with what it is; upper and lower case are the same. */
export const canaries = new Map<string, string>([
  [address, "the address of a login"],
  ["zq-mail", "the domain of a login's address"],
  [hashed(address.toLowerCase()), "the hash of a login's address"],
  [password, "a password"],
  ["zq-damaged", "a damaged item"],
  ["zq-user", "the name of a login"],
  [phoneNumber.slice(3), "a phone number"],
  [hashed(phoneNumber), "the hash of a phone number"],
  [unknownNumber.slice(3), "a phone number nobody has"],
  ["zq-number", "a malformed phone number"],
  [imei, "an IMEI"],
  ["zq-model", "the model of a device"],
  [publicAddress, "a public address"],
  [privateAddress, "a private address"],
  ["7a7a:9b9b", "an IPv6 network"],
  ["zq-access", "a network access identifier"],
  ["zq-operator", "the realm of a network access identifier"],
  ["zq-subscription", "a subscription"],
  ["zq-subject", "the subject of a token"],
  ["zq-client", "the client of a token"],
  ["zq-jti", "the name of an assertion"],
  ["zq-token", "a malformed token"],
  ["zq-basic", "credentials of another scheme"],
  ["zq-host", "the name of a host"],
  ["zq-sink-query", "the query of a sink"],
  [sinkToken, "the token of a sink"],
  ["zq-body", "a member of a body"],
  ["zq-name", "a parameter of a path"],
  ["zq-path", "a path"],
  ["zq-query", "a query"],
  ["zq-header", "a header"],
  ["zq-idempotency", "an idempotency key"],
  ["zq-correlator", "a correlator that is refused"],
  ["127.0.0.1", "the address of the caller and of sinks"],
]);

/** Everything that was sent or stored, to see that all of it was at stake. */
export const sent: string[] = [];

/** Words of the contract, which errors may say. */
const ownWords = new Set([
  "bearer",
  ...areas.map(({ name }) => name),
  ...everyScope,
  ...enumerated(document),
]);

/** The members of all enumerations in a document, in lower case. */
function enumerated(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === "enum" || name === "const"
      ? leavesOf(value).map((word) => word.toLowerCase())
      : enumerated(value),
  );
}

/** The texts and numbers in a value. */
export function leavesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leavesOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

/** Lets the texts and long numbers in a value be found nowhere; short ones may occur by chance. */
export function hide(value: unknown, name: string): void {
  for (const leaf of leavesOf(value)) {
    if (leaf.length >= 6 && !ownWords.has(leaf.toLowerCase())) canaries.set(leaf, name);
  }
}

/** What of the canaries is in a text. */
export function found(text: string): string[] {
  const lower = text.toLowerCase();
  return [...canaries].filter(([canary]) => lower.includes(canary.toLowerCase())).map(([, name]) => name);
}
