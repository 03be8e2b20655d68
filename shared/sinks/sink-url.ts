import { BlockList, isIP } from "node:net";
import { domainToUnicode } from "node:url";
import { type AllowedNetwork, isAllowed, isPublicAddress } from "./networks.ts";

/** The parsed URL of a sink. */
export interface Sink {
  /** Whether it is `https`. */
  readonly secure: boolean;
  /** The host name in lower case, or the address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of the header `Host` (RFC 9110 section 7.2). */
  readonly authority: string;
  /** With the query; `/` at least. */
  readonly path: string;
  /** The addresses of a literal address or `localhost`; undefined for a name, which must be looked up. */
  readonly addresses: readonly string[] | undefined;
}

const maxCharacters = 2_048;

/** RFC 3986, without user info, fragments, empty ports and port 0. */
const sinkPattern =
  /^https?:\/\/(?<host>\[[\da-f:.]+\]|[\da-z.-]+)(?::[1-9]\d{0,4})?(?:[/?](?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i;

/** Host names (RFC 1123) with more than one label; the last one cannot be parsed as a number. */
const namePattern = /^(?=.{1,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/;

/**
 * Names that are never public: special-use names (RFC 6761, 6762, 7686, 8375, 9476), ICANN's for private use, and those
 * commonly used in private networks (RFC 6762 appendix G).
 */
const insidePattern =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|test|invalid|onion|alt)$/;

/** Labels that are Punycode, if they are: releases of Node.js differ in whether their URL parser refuses bad ones. */
const punycodePattern = /(?:^|\.)xn--/;

/** Whether every label of a name that begins like Punycode is. */
function isDecodable(hostname: string): boolean {
  return !punycodePattern.test(hostname) || !punycodePattern.test(domainToUnicode(hostname));
}

const loopbackAddresses = ["127.0.0.1", "::1"];

/**
 * Parses the URL of a sink: `https` to a public host name, or `http` or `https` to an address that is allowed with its
 * port, or to `localhost` if one of its addresses is.
 *
 * IPv4 addresses are accepted only as four decimal numbers. Characters that a URL parser would drop, replace or encode
 * are refused (RFC 3986 allows none of them). The addresses of a public name are checked when connecting.
 * @returns undefined for every other text.
 */
export function parseSink(text: string, allowed: readonly AllowedNetwork[]): Sink | undefined {
  const host = text.length <= maxCharacters ? sinkPattern.exec(text)?.groups?.host : undefined;
  if (host === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!host.startsWith("[") && host.toLowerCase() !== url.hostname) return undefined;
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = portOf(url);
  const addresses = addressesOf(hostname)?.filter((address) => isAllowed(address, port, allowed));
  const isReachable =
    addresses === undefined
      ? secure && namePattern.test(hostname) && isDecodable(hostname) && !insidePattern.test(hostname)
      : addresses.length > 0;
  if (!isReachable) return undefined;
  return { secure, hostname, port, authority: url.host, path: url.pathname + url.search, addresses };
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** The addresses of a literal host; `localhost` is always loopback, without asking a resolver (RFC 6761). */
function addressesOf(hostname: string): readonly string[] | undefined {
  if (hostname === "localhost") return loopbackAddresses;
  return isIP(hostname) === 0 ? undefined : [hostname];
}

/** Whether a text is a valid sink URL (docs/deliveries.md), without looking up its name; see `parseSink`. */
export function isSink(text: string, allowed: readonly AllowedNetwork[]): boolean {
  return parseSink(text, allowed) !== undefined;
}

/**
 * Lower-case host and port: the same for all sinks of a server under one name. Must not be logged.
 * @param text a URL that `isSink` accepts.
 */
export function sinkHost(text: string): string {
  const url = new URL(text);
  return `${url.hostname}:${portOf(url)}`;
}

/** Which addresses sinks may have. */
export interface Reach {
  readonly allowed: readonly AllowedNetwork[];
  /** `host:port` of Lambda's runtime API, which a sink must not reach; undefined outside Lambda. */
  readonly runtimeApi: string | undefined;
}

/**
 * Whether an attempt may connect to an address: it is public, or allowed with its port, and neither the runtime API nor
 * its port on a loopback address.
 */
export function mayConnect(address: string, port: number, { allowed, runtimeApi }: Reach): boolean {
  if (!isPublicAddress(address) && !isAllowed(address, port, allowed)) return false;
  return runtimeApi === undefined || !isRuntimeApi(address, port, new URL(`http://${runtimeApi}`));
}

function isRuntimeApi(address: string, port: number, api: URL): boolean {
  const host = api.hostname.replace(/^\[|\]$/g, "");
  const addresses = new BlockList();
  addresses.addSubnet("127.0.0.0", 8, "ipv4");
  addresses.addAddress("::1", "ipv6");
  if (isIP(host) !== 0) addresses.addAddress(host, isIP(host) === 4 ? "ipv4" : "ipv6");
  return port === portOf(api) && addresses.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
