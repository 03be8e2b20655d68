import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowed, isPublicAddress, parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import { words } from "../../support/words.ts";

/** The blocks of IANA's special-purpose registries, and of multicast. All IPv6 outside of 2000::/3 is one as well. */
const special = {
  ipv4: [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
  ],
  ipv6: [
    "0:0:0:0:0:0:0:0/3",
    "2001:0:0:0:0:0:0:0/23",
    "2001:db8:0:0:0:0:0:0/32",
    "2002:0:0:0:0:0:0:0/16",
    "2620:4f:8000:0:0:0:0:0/48",
    "3fff:0:0:0:0:0:0:0/20",
    "4000:0:0:0:0:0:0:0/2",
    "8000:0:0:0:0:0:0:0/1",
  ],
};

/** A block with its first and its last address, as bits. */
function blockOf(text: string, size: number) {
  const [address = "", prefix] = text.split("/");
  const first = bitsOf(address);
  return { text, first, last: first + (1n << BigInt(size - Number(prefix))) - 1n };
}

const blocks = ([32, 128] as const).flatMap((size) => {
  const all = special[size === 32 ? "ipv4" : "ipv6"].map((text) => blockOf(text, size));
  return all.map((block) => ({ ...block, size, all }));
});

test.each(blocks)(
  "$text is not public from its first address to its last, and its neighbours are unless they are of another block",
  (block) => {
    const { first, last, size, all } = block;
    const around = [first - 1n, first, (first + last) / 2n, last, last + 1n].filter(
      (bits) => bits >= 0n && bits < 1n << BigInt(size),
    );
    for (const bits of around) {
      const isSpecial = all.some((one) => one.first <= bits && bits <= one.last);
      expect([addressOf(bits, size), isPublicAddress(addressOf(bits, size))]).toEqual([
        addressOf(bits, size),
        !isSpecial,
      ]);
    }
  },
);

test("an address is public or not however it is written", () => {
  expect(isPublicAddress("2606:4700:4700::1111")).toBe(true);
  const embedded = ["::8.8.8.8", "::ffff:8.8.8.8", "::ffff:808:808", "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8"];
  const others = ["::", "::1", "2001:db8::1", "fd00:ec2::254", "fe80::1", "fec0::", "ff02::1"];
  expect([...embedded, ...others].filter(isPublicAddress)).toEqual([]);
});

test.each([
  "",
  "8.8.8.8 ",
  ...words(`
      localhost example.com 8.8.8 8.8.8.8. 08.8.8.8 0x8.8.8.8 134744072 8.8.8.8:443 8.8.8.8/32
      [2606:4700:4700::1111] 2606:4700:4700::1111%0 2606:4700:4700::1111%eth0 2606:4700:4700::1111/128
      fe80::1%lo
    `),
])("%j is no public address", (text) => {
  expect(isPublicAddress(text)).toBe(false);
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

/** The inverse of `bitsOf`. */
function addressOf(bits: bigint, size: 32 | 128): string {
  return size === 32
    ? [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join(".")
    : Array.from({ length: 8 }, (_, group) =>
        ((bits >> BigInt(112 - 16 * group)) & 65_535n).toString(16),
      ).join(":");
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
  test("an operator allows networks of both families with a port or a range of ports", () => {
    expect(parseAllowedNetworks("127.0.0.1/32:1024-65535,[::1]/128:8080,10.0.0.0/8:1")).toEqual([
      { family: "ipv4", address: "127.0.0.1", prefix: 32, firstPort: 1_024, lastPort: 65_535 },
      { family: "ipv6", address: "::1", prefix: 128, firstPort: 8_080, lastPort: 8_080 },
      { family: "ipv4", address: "10.0.0.0", prefix: 8, firstPort: 1, lastPort: 1 },
    ]);
    expect(parseAllowedNetworks("")).toEqual([]);
  });

  test.each([
    " ",
    "127.0.0.1/32:80, 127.0.0.2/32:80",
    ...words(`
      , 127.0.0.1/32:80, 127.0.0.1:80 127.0.0.1/32 127.0.0.1/33:80 127.0.0.1/032:80 127.0.0.1/:80
      127.1/32:80 127.0.0.1/32:0 127.0.0.1/32:080 127.0.0.1/32:65536 127.0.0.1/32:80-79 127.0.0.1/32:80-
      127.0.0.1/32:80-90-100 localhost/32:80 ::1/128:80 [::1]/129:80 [::1%lo]/128:80 [127.0.0.1]/32:80
      [::1/128]:80 *:80
    `),
  ])("the list of networks %j is refused as a whole", (text) => {
    expect(parseAllowedNetworks(text)).toBeUndefined();
  });

  test("the addresses and ports of the networks are allowed, and no others", () => {
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

  test("an address is allowed exactly when it begins with the bits of a network", () => {
    fc.assert(
      fc.property(anyAddress, fc.nat(128), fc.nat(127), fc.boolean(), (network, length, flipped, same) => {
        const isIpv4 = network.includes(".");
        const size = isIpv4 ? 32 : 128;
        const prefix = length % (size + 1);
        const bits = bitsOf(network);
        const other = same ? bits : bits ^ (1n << BigInt(flipped % size));
        const address = addressOf(other, size);
        fc.pre(isAllowed(address, 80, everything));
        const list = listOf(`${isIpv4 ? network : `[${network}]`}/${prefix}:80`);
        const unlike = BigInt(size - prefix);
        expect(isAllowed(address, 80, list)).toBe(bits >> unlike === other >> unlike);
      }),
      { numRuns: 2_000 },
    );
  });

  const everything = parseAllowedNetworks("0.0.0.0/0:1-65535,[::]/0:1-65535") ?? [];

  test("private addresses are allowed when every network is", () => {
    for (const address of ["10.0.0.1", "127.0.0.1", "169.253.255.255", "169.255.0.0", "::1", "fd00:ec3::1"]) {
      expect([address, isAllowed(address, 80, everything)]).toEqual([address, true]);
    }
  });

  test.each(
    words(`
      0.0.0.0 0.1.2.3 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 :: fe80::1 febf::1
      fe80::1%eth0 fd00:ec2::254 fd00:ec2::23 fd00:0ec2:0:0::254 ::ffff:169.254.169.254 ::ffff:127.0.0.1
      ::ffff:0:169.254.169.254 ::169.254.169.254 64:ff9b::169.254.169.254 64:ff9b:1::a9fe:a9fe
      2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::1
    `),
  )("%s is never allowed, even when every network is", (address) => {
    const itself = address.includes("%")
      ? []
      : listOf(`${address.includes(":") ? `[${address}]` : address}/0:80`);
    expect(isAllowed(address, 80, [...everything, ...itself])).toBe(false);
  });

  test("an IPv4 network allows no IPv6 address, and the other way round", () => {
    expect(isAllowed("::ffff:10.0.0.1", 80, listOf("10.0.0.0/8:80"))).toBe(false);
    expect(isAllowed("10.0.0.1", 80, listOf("[::ffff:0.0.0.0]/96:80"))).toBe(false);
    expect(isAllowed("10.0.0.1", 80, listOf("[::]/0:80"))).toBe(false);
    expect(isAllowed("::1", 80, listOf("0.0.0.0/0:80"))).toBe(false);
  });
});
