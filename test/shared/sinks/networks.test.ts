import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowed, isPublicAddress, parseAllowedNetworks } from "../../../shared/sinks/networks.ts";

/** The addresses before, at both ends of, and after each range; true for those that are public. */
const ipv4: Record<string, readonly (readonly [string, boolean])[]> = {
  "0.0.0.0/8": [
    ["0.0.0.0", false],
    ["0.255.255.255", false],
    ["1.0.0.0", true],
  ],
  "10.0.0.0/8": [
    ["9.255.255.255", true],
    ["10.0.0.0", false],
    ["10.255.255.255", false],
    ["11.0.0.0", true],
  ],
  "100.64.0.0/10": [
    ["100.63.255.255", true],
    ["100.64.0.0", false],
    ["100.127.255.255", false],
    ["100.128.0.0", true],
  ],
  "127.0.0.0/8": [
    ["126.255.255.255", true],
    ["127.0.0.0", false],
    ["127.0.0.1", false],
    ["127.255.255.255", false],
    ["128.0.0.0", true],
  ],
  "169.254.0.0/16": [
    ["169.253.255.255", true],
    ["169.254.0.0", false],
    ["169.254.169.254", false],
    ["169.254.255.255", false],
    ["169.255.0.0", true],
  ],
  "172.16.0.0/12": [
    ["172.15.255.255", true],
    ["172.16.0.0", false],
    ["172.31.255.255", false],
    ["172.32.0.0", true],
  ],
  "192.0.0.0/24": [
    ["191.255.255.255", true],
    ["192.0.0.0", false],
    // Globally reachable, but nobody's server.
    ["192.0.0.9", false],
    ["192.0.0.255", false],
    ["192.0.1.0", true],
  ],
  "192.0.2.0/24": [
    ["192.0.1.255", true],
    ["192.0.2.0", false],
    ["192.0.2.255", false],
    ["192.0.3.0", true],
  ],
  "192.31.196.0/24": [
    ["192.31.195.255", true],
    ["192.31.196.0", false],
    ["192.31.196.255", false],
    ["192.31.197.0", true],
  ],
  "192.52.193.0/24": [
    ["192.52.192.255", true],
    ["192.52.193.0", false],
    ["192.52.193.255", false],
    ["192.52.194.0", true],
  ],
  "192.88.99.0/24": [
    ["192.88.98.255", true],
    ["192.88.99.0", false],
    ["192.88.99.255", false],
    ["192.88.100.0", true],
  ],
  "192.168.0.0/16": [
    ["192.167.255.255", true],
    ["192.168.0.0", false],
    ["192.168.255.255", false],
    ["192.169.0.0", true],
  ],
  "192.175.48.0/24": [
    ["192.175.47.255", true],
    ["192.175.48.0", false],
    ["192.175.48.255", false],
    ["192.175.49.0", true],
  ],
  "198.18.0.0/15": [
    ["198.17.255.255", true],
    ["198.18.0.0", false],
    ["198.19.255.255", false],
    ["198.20.0.0", true],
  ],
  "198.51.100.0/24": [
    ["198.51.99.255", true],
    ["198.51.100.0", false],
    ["198.51.100.255", false],
    ["198.51.101.0", true],
  ],
  "203.0.113.0/24": [
    ["203.0.112.255", true],
    ["203.0.113.0", false],
    ["203.0.113.255", false],
    ["203.0.114.0", true],
  ],
  "224.0.0.0/4": [
    ["223.255.255.255", true],
    ["224.0.0.0", false],
    ["239.255.255.255", false],
  ],
  "240.0.0.0/4": [
    ["240.0.0.0", false],
    ["255.255.255.254", false],
    ["255.255.255.255", false],
  ],
};

const ipv6: Record<string, readonly (readonly [string, boolean])[]> = {
  "::/96, unspecified, loopback and IPv4-compatible": [
    ["::", false],
    ["::1", false],
    ["::8.8.8.8", false],
    ["::1:0:0", false],
  ],
  "::ffff:0:0/96, IPv4-mapped": [
    ["::ffff:10.0.0.1", false],
    ["::ffff:8.8.8.8", false],
    ["::ffff:808:808", false],
    ["0:0:0:0:0:ffff:0808:0808", false],
    ["::ffff:0:8.8.8.8", false],
  ],
  "64:ff9b::/96 and 64:ff9b:1::/48, NAT64": [
    ["64:ff9b::", false],
    ["64:ff9b::8.8.8.8", false],
    ["64:ff9b::a9fe:a9fe", false],
    ["64:ff9b:1::", false],
    ["64:ff9b:1:ffff:ffff:ffff:ffff:ffff", false],
  ],
  "100::/64": [
    ["100::", false],
    ["100::ffff:ffff:ffff:ffff", false],
    ["100:0:0:1::", false],
  ],
  "2000::/3": [
    ["1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["2000::", true],
    ["2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["2606:4700:4700::1111", true],
    ["3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["4000::", false],
  ],
  "2001::/23": [
    ["2001::", false],
    ["2001:0:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["2001:1::1", false],
    ["2001:2::", false],
    ["2001:3::", false],
    ["2001:4:112::1", false],
    ["2001:20::", false],
    ["2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["2001:200::", true],
  ],
  "2001:db8::/32": [
    ["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["2001:db8::", false],
    ["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["2001:db9::", true],
  ],
  "2002::/16": [
    ["2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["2002::", false],
    ["2002:a9fe:a9fe::", false],
    ["2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["2003::", true],
  ],
  "2620:4f:8000::/48": [
    ["2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", true],
    ["2620:4f:8000::", false],
    ["2620:4f:8000:ffff:ffff:ffff:ffff:ffff", false],
    ["2620:4f:8001::", true],
  ],
  "3fff::/20": [
    ["3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["3fff::", false],
    ["3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["3fff:1000::", true],
  ],
  "5f00::/16": [
    ["5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["5f00::", false],
    ["5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["5f01::", false],
  ],
  "fc00::/7": [
    ["fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["fc00::", false],
    ["fd00:ec2::254", false],
    ["fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["fe00::", false],
  ],
  "fe80::/10, fec0::/10 and ff00::/8": [
    ["fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["fe80::1", false],
    ["febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["fec0::", false],
    ["feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["ff00::", false],
    ["ff02::1", false],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false],
  ],
};

const ranges = Object.entries({ ...ipv4, ...ipv6 });

describe("isPublicAddress", () => {
  test.each(ranges)("isPublicAddress knows which addresses in and around %s are public", (_, addresses) => {
    const found = addresses.map(([address]) => [address, isPublicAddress(address)]);
    expect(found).toEqual(addresses);
  });

  test.each([
    "",
    "localhost",
    "example.com",
    "8.8.8",
    "8.8.8.8.",
    "8.8.8.8 ",
    "08.8.8.8",
    "0x8.8.8.8",
    "134744072",
    "8.8.8.8:443",
    "8.8.8.8/32",
    "[2606:4700:4700::1111]",
    "2606:4700:4700::1111%0",
    "2606:4700:4700::1111%eth0",
    "2606:4700:4700::1111/128",
    "fe80::1%lo",
  ])("isPublicAddress returns false for %j", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

/** Bits of an address, written with all of its numbers. */
function bitsOf(address: string): bigint {
  const isIpv4 = address.includes(".");
  const numbers = address.split(isIpv4 ? "." : ":");
  return numbers.reduce(
    (bits, number) =>
      isIpv4 ? bits * 256n + BigInt(number) : bits * 65_536n + BigInt(Number.parseInt(number, 16)),
    0n,
  );
}

const longIpv6 = fc
  .array(fc.oneof(fc.constantFrom(0, 1, 0x2001, 0xdb8, 0xfd00, 0xffff), fc.nat(65_535)), {
    minLength: 8,
    maxLength: 8,
  })
  .map((groups) => groups.map((group) => group.toString(16)).join(":"));

const anyAddress = fc.oneof(fc.ipV4(), longIpv6);

/** A list with one network in it. */
function listOf(text: string) {
  const networks = parseAllowedNetworks(text);
  expect(networks).toHaveLength(1);
  return networks ?? [];
}

describe("a list of allowed networks", () => {
  test("parseAllowedNetworks reads networks of both families with a port or a range of ports", () => {
    expect(parseAllowedNetworks("127.0.0.1/32:1024-65535,[::1]/128:8080,10.0.0.0/8:1")).toEqual([
      { family: "ipv4", address: "127.0.0.1", prefix: 32, firstPort: 1_024, lastPort: 65_535 },
      { family: "ipv6", address: "::1", prefix: 128, firstPort: 8_080, lastPort: 8_080 },
      { family: "ipv4", address: "10.0.0.0", prefix: 8, firstPort: 1, lastPort: 1 },
    ]);
    expect(parseAllowedNetworks("")).toEqual([]);
  });

  test.each([
    " ",
    ",",
    "127.0.0.1/32:80,",
    "127.0.0.1/32:80, 127.0.0.2/32:80",
    "127.0.0.1:80",
    "127.0.0.1/32",
    "127.0.0.1/33:80",
    "127.0.0.1/032:80",
    "127.0.0.1/:80",
    "127.1/32:80",
    "127.0.0.1/32:0",
    "127.0.0.1/32:080",
    "127.0.0.1/32:65536",
    "127.0.0.1/32:80-79",
    "127.0.0.1/32:80-",
    "127.0.0.1/32:80-90-100",
    "localhost/32:80",
    "::1/128:80",
    "[::1]/129:80",
    "[::1%lo]/128:80",
    "[127.0.0.1]/32:80",
    "[::1/128]:80",
    "*:80",
  ])("parseAllowedNetworks refuses %j as a whole", (text) => {
    expect(parseAllowedNetworks(text)).toBeUndefined();
  });

  test("isAllowed allows the addresses and ports of the networks and no others", () => {
    const networks = parseAllowedNetworks("127.0.0.1/32:8080-8081,[fd12:3456::]/32:443") ?? [];
    expect(isAllowed("127.0.0.1", 8_080, networks)).toBe(true);
    expect(isAllowed("127.0.0.1", 8_081, networks)).toBe(true);
    expect(isAllowed("127.0.0.1", 8_079, networks)).toBe(false);
    expect(isAllowed("127.0.0.1", 8_082, networks)).toBe(false);
    expect(isAllowed("127.0.0.2", 8_080, networks)).toBe(false);
    expect(isAllowed("127.0.0.1", 443, networks)).toBe(false);
    expect(isAllowed("fd12:3456:ffff::1", 443, networks)).toBe(true);
    expect(isAllowed("fd12:3457::1", 443, networks)).toBe(false);
    expect(isAllowed("", 443, networks)).toBe(false);
    expect(isAllowed("127.0.0.1", 8_080, [])).toBe(false);
  });

  test("isAllowed allows an address exactly when it begins with the bits of a network", () => {
    fc.assert(
      fc.property(anyAddress, fc.nat(128), fc.nat(127), fc.boolean(), (network, length, flipped, same) => {
        const isIpv4 = network.includes(".");
        const size = isIpv4 ? 32 : 128;
        const prefix = length % (size + 1);
        const bits = bitsOf(network);
        const other = same ? bits : bits ^ (1n << BigInt(flipped % size));
        const address = isIpv4
          ? [24n, 16n, 8n, 0n].map((shift) => (other >> shift) & 255n).join(".")
          : Array.from({ length: 8 }, (_, group) =>
              ((other >> BigInt(112 - 16 * group)) & 65_535n).toString(16),
            ).join(":");
        fc.pre(isAllowed(address, 80, everything));
        const list = listOf(`${isIpv4 ? network : `[${network}]`}/${prefix}:80`);
        const unlike = BigInt(size - prefix);
        expect(isAllowed(address, 80, list)).toBe(bits >> unlike === other >> unlike);
      }),
      { numRuns: 2_000 },
    );
  });

  const everything = parseAllowedNetworks("0.0.0.0/0:1-65535,[::]/0:1-65535") ?? [];

  test("isAllowed allows private addresses when every network is allowed", () => {
    for (const address of ["10.0.0.1", "127.0.0.1", "169.253.255.255", "169.255.0.0", "::1", "fd00:ec3::1"]) {
      expect([address, isAllowed(address, 80, everything)]).toEqual([address, true]);
    }
  });

  test.each([
    "0.0.0.0",
    "0.1.2.3",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.255.255",
    "::",
    "fe80::1",
    "febf::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd00:0ec2:0:0::254",
    "::ffff:169.254.169.254",
    "::ffff:127.0.0.1",
    "::ffff:0:169.254.169.254",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
  ])("isAllowed never allows %s, even when every network is allowed", (address) => {
    const itself = address.includes("%")
      ? []
      : listOf(`${address.includes(":") ? `[${address}]` : address}/0:80`);
    expect(isAllowed(address, 80, [...everything, ...itself])).toBe(false);
  });

  test("isAllowed keeps IPv4 and IPv6 networks apart", () => {
    expect(isAllowed("::ffff:10.0.0.1", 80, listOf("10.0.0.0/8:80"))).toBe(false);
    expect(isAllowed("10.0.0.1", 80, listOf("[::ffff:0.0.0.0]/96:80"))).toBe(false);
    expect(isAllowed("10.0.0.1", 80, listOf("[::]/0:80"))).toBe(false);
    expect(isAllowed("::1", 80, listOf("0.0.0.0/0:80"))).toBe(false);
  });
});
