import { BlockList, isIPv4, isIPv6 } from "node:net";

type Family = "ipv4" | "ipv6";

/** Private addresses and ports that the operator allows for sinks. */
export interface AllowedNetwork {
  readonly family: Family;
  /** Bits after the prefix are ignored. */
  readonly address: string;
  /** The number of leading bits that must equal those of `address`: 0…32 or 0…128. */
  readonly prefix: number;
  /** 1…65535, and not above `lastPort`. */
  readonly firstPort: number;
  readonly lastPort: number;
}

const networkForm = String.raw`(?:(?<ipv4>[\d.]+)|\[(?<ipv6>[\da-f:.]+)\])/(?<prefix>0|[1-9]\d{0,2})`;
const portsForm = String.raw`(?<first>[1-9]\d{0,4})(?:-(?<last>[1-9]\d{0,4}))?`;
const networkPattern = new RegExp(`^${networkForm}:${portsForm}$`, "i");

/**
 * Reads a list of networks with ports, as in `127.0.0.1/32:1024-65535,[::1]/128:8080`: separated by commas without
 * spaces, IPv6 addresses in brackets. An empty text is an empty list.
 * @returns undefined if any part of the text is malformed.
 */
export function parseAllowedNetworks(text: string): readonly AllowedNetwork[] | undefined {
  if (text === "") return [];
  const networks = text.split(",").map(parseNetwork);
  return networks.every((network) => network !== undefined) ? networks : undefined;
}

function parseNetwork(text: string): AllowedNetwork | undefined {
  const { ipv4, ipv6, prefix, first, last = first } = networkPattern.exec(text)?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? "";
  const family = familyOf(address);
  if (family === undefined || (family === "ipv4") !== (ipv4 !== undefined)) return undefined;
  const network = {
    family,
    address,
    prefix: Number(prefix),
    firstPort: Number(first),
    lastPort: Number(last),
  };
  const isPossible =
    network.prefix <= (family === "ipv4" ? 32 : 128) &&
    network.firstPort <= network.lastPort &&
    network.lastPort <= 65_535;
  return isPossible ? network : undefined;
}

/**
 * Undefined for a text that is not an address, and for an address with a zone, which has a meaning on one machine only
 * (RFC 4007).
 */
function familyOf(address: string): Family | undefined {
  if (isIPv4(address)) return "ipv4";
  return isIPv6(address) && !address.includes("%") ? "ipv6" : undefined;
}

/**
 * A list for addresses of one family only: a mixed list would take `::ffff:192.0.2.1` and `192.0.2.1` for the same
 * address.
 */
function listOf(family: Family, networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Addresses that cannot be allowed: the host itself, its link, the cloud's services, and indirect ways to them. */
const neverOpened = {
  ipv4: listOf("ipv4", ["0.0.0.0/8", "169.254.0.0/16"]),
  ipv6: listOf("ipv6", [
    "::/128",
    "fe80::/10",
    "fd00:ec2::/32", // services of AWS, the metadata of an instance among them
    // IPv6 addresses that embed an IPv4 address
    "::169.254.0.0/112",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2001::/32",
    "2002::/16",
  ]),
};

/**
 * Whether one of the networks allows an address and port. Never allowed are 0.0.0.0/8, the link-local 169.254.0.0/16
 * and fe80::/10, fd00:ec2::/32, and IPv6 addresses that embed an IPv4 address, which may lead to any of these.
 */
export function isAllowed(address: string, port: number, networks: readonly AllowedNetwork[]): boolean {
  const family = familyOf(address);
  if (family === undefined || neverOpened[family].check(address, family)) return false;
  return networks.some(
    (network) =>
      network.family === family &&
      network.firstPort <= port &&
      port <= network.lastPort &&
      listOf(family, [`${network.address}/${network.prefix}`]).check(address, family),
  );
}

const notPublic = {
  ipv4: listOf("ipv4", [
    "0.0.0.0/8", // this network
    "10.0.0.0/8", // private use
    "100.64.0.0/10", // shared address space
    "127.0.0.0/8", // loopback
    "169.254.0.0/16", // link local
    "172.16.0.0/12", // private use
    "192.0.0.0/24", // IETF protocol assignments
    "192.0.2.0/24", // documentation
    "192.31.196.0/24", // AS112
    "192.52.193.0/24", // AMT
    "192.88.99.0/24", // 6to4 relays
    "192.168.0.0/16", // private use
    "192.175.48.0/24", // AS112
    "198.18.0.0/15", // benchmarking
    "198.51.100.0/24", // documentation
    "203.0.113.0/24", // documentation
    "224.0.0.0/4", // multicast
    "240.0.0.0/4", // reserved, broadcast
  ]),
  ipv6: listOf("ipv6", [
    "2001::/23", // IETF protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID
    "2001:db8::/32", // documentation
    "2002::/16", // 6to4
    "2620:4f:8000::/48", // AS112
    "3fff::/20", // documentation
  ]),
};

const ipv6Unicast = listOf("ipv6", ["2000::/3"]);

/**
 * Whether an address is globally reachable unicast. Refuses multicast, every block of the IANA special-purpose address
 * registries for IPv4 and IPv6 (RFC 6890), even the few that are reachable, and all IPv6 outside 2000::/3, the only
 * block allocated so far (RFC 4291, IANA IPv6 address space). So IPv4-mapped, IPv4-compatible and NAT64 addresses are
 * refused with any embedded IPv4 address, as are addresses with a zone.
 */
export function isPublicAddress(address: string): boolean {
  const family = familyOf(address);
  if (family === undefined || notPublic[family].check(address, family)) return false;
  return family === "ipv4" || ipv6Unicast.check(address, family);
}
