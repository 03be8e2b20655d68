import { describe, expect, test } from "vitest";
import { parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import { isSink, mayConnect, parseSink, sinkHost } from "../../../shared/sinks/sink-url.ts";
import { words } from "../../support/words.ts";

const allowed = parseAllowedNetworks("127.0.0.1/32:8080,10.0.0.0/8:443,[fd12::1]/128:8080") ?? [];
const label = "a".repeat(63);
const longestName = `${label}.${label}.${label}.${"a".repeat(57)}.com`;

const sinks = words(`
  https://endpoint.example.com/sink https://endpoint.example.com https://endpoint.example.com?key=value
  https://endpoint.example.com:443/ https://endpoint.example.com:65535/ https://endpoint.example.com/a@b:c
  https://endpoint.example.com/..//./ HTTPS://Endpoint.EXAMPLE.com/Sink https://xn--mnchen-3ya.example.com/
  https://1.2.3.4.example.com/ https://127.0.0.1.nip.io/ https://my-host.example.co.uk/
  https://sink.example/ https://notlocalhost.com/ https://internal.example.com/
  https://alternative.example.com/ https://mycorp.com/ https://endpoint.localdomains/
  https://endpoint.example.com:8443/a/b;c=d?e=f&g=%20
`);

const notSinks: Record<string, readonly string[]> = {
  "is not an absolute https URL": [
    "",
    "https:\\\\endpoint.example.com/",
    ...words(`
      https https: https:// https:/// https:endpoint.example.com/ https:///endpoint.example.com/
      //endpoint.example.com/ /sink endpoint.example.com/sink http://endpoint.example.com/sink
      ftp://endpoint.example.com/sink file:///etc/passwd data:text/plain,https://endpoint.example.com
      javascript:alert(1) blob:https://endpoint.example.com/1
    `),
  ],
  "is too long": [`https://endpoint.example.com/${"a".repeat(2_048 - 28)}`],
  "has user info or a fragment": words(`
    https://user@endpoint.example.com/ https://user:password@endpoint.example.com/
    https://@endpoint.example.com/ https://8.8.8.8@10.0.0.1/ https://endpoint.example.com/#
    https://endpoint.example.com/#part https://endpoint.example.com/?a#b
  `),
  "has an invalid port": words(`
    https://endpoint.example.com:/ https://endpoint.example.com:0/ https://endpoint.example.com:65536/
    https://endpoint.example.com:-1/ https://endpoint.example.com:https/
  `),
  "has characters that a parser drops, turns into others or encodes": [
    " https://endpoint.example.com/",
    "https://endpoint.example.com/ ",
    "https://endpoint.example.com/\n",
    "\u0000https://endpoint.example.com/",
    "https://end\npoint.example.com/",
    "https://endpoint.example.com/\ta",
    "https://endpoint.example.com/a b",
    "https://endpoint.example.com/a\r\nx: y",
    "https://endpoint.example.com/\u007f",
    "https://endpoint.example.com\\sink",
    "https://endpoint.example.com/a\\b",
    'https://endpoint.example.com/"',
    "https://end\u00adpoint.example.com/",
    "https://endpoint.example.com\uff0fsink",
    "\ufeffhttps://endpoint.example.com/",
    ...words(`
      https://endpoint.example.com/ü https://endpoint.example.com/a|b https://endpoint.example.com/<a>
      https://endpoint.example.com/% https://endpoint.example.com/%zz https://end%70oint.example.com/
      https://münchen.example.com/ https://endpoint。example。com/ https://ⓔndpoint.example.com/
    `),
  ],
  "has no host name that may be public": [
    `https://a${label}.example.com/`,
    `https://a${longestName}/`,
    ...words(`
      https://localhost/ https://localhost./ https://LOCALHOST/ https://a.localhost/ https://sink/
      https://com/ https://printer.local/ https://metadata.google.internal/ https://ip-10-0-0-1.ec2.internal/
      https://router.home.arpa/ https://home.arpa/ https://a.test/ https://a.alt/ https://A.Internal/
      https://sink.localdomain/ https://localhost.localdomain/ https://sink.corp/ https://nas.home/
      https://printer.lan/ https://wiki.intranet/ https://sink.private/ https://corp/
      https://endpoint.example.com./ https://endpoint..example.com/ https://.endpoint.example.com/
      https://endpoint_a.example.com/ https://-endpoint.example.com/ https://endpoint-.example.com/
      https://end*point.example.com/ https://endpoint.example.123/ https://endpoint.example.0x1/
      https://xn--a.example.com/
    `),
  ],
  "is an address, though a public one": words(`
    https://8.8.8.8/ https://8.8.8.8:8443/ https://[2606:4700:4700::1111]/
    https://[2606:4700:4700:0:0:0:0:1111]:8443/
  `),
  "is an address that is not public": words(`
    https://127.0.0.1/ https://10.0.0.1:8443/ https://169.254.169.254/ https://192.168.0.1/ https://0.0.0.0/
    https://255.255.255.255/ https://[::1]/ https://[::]/ https://[::ffff:8.8.8.8]/
    https://[::ffff:127.0.0.1]/ https://[64:ff9b::8.8.8.8]/ https://[fe80::1]/ https://[fe80::1%25eth0]/
    https://[2606:4700:4700::1111%25eth0]/ https://[fd00:ec2::254]/ https://[2002:a9fe:a9fe::]/
    https://[::1/ https://[8.8.8.8]/ http://8.8.8.8/
  `),
  "is an address in disguise": words(`
    http://2130706433/ https://2130706433/ https://2852039166/ https://0x7f.1/ https://0177.0.0.1/
    https://127.1/ https://127.0.0.1./ https://１２７.0.0.1/ https://127。0。0。1/ https://①②⑦.⓪.⓪.①/
    https://127.0.0.%31/ https://134744072/ https://8.8.8.8./ https://08.8.8.8/ https://8.8.8.0x8/
    http://2130706433:8080/ http://127.1:8080/ http://127.0.0.1.:8080/ http://0x7f.1:8080/
  `),
  "is private and not allowed by the operator": words(`
    http://127.0.0.1/ http://127.0.0.1:8081/ http://127.0.0.2:8080/ http://localhost/ http://localhost:8081/
    http://localhost.:8080/ http://a.localhost:8080/ http://[::1]:8080/ http://[::ffff:127.0.0.1]:8080/
    http://10.0.0.1/ http://user@127.0.0.1:8080/ http://127.0.0.1:8080/# ftp://127.0.0.1:8080/
  `),
};

describe("the URL of a sink", () => {
  test.each(sinks)("a sink at %j is accepted", (text) => {
    expect(isSink(text, [])).toBe(true);
    expect(isSink(text, allowed)).toBe(true);
  });

  test("a sink is accepted with a name of 253 characters, or a URL of 2,048", () => {
    const longestUrl = `https://endpoint.example.com/${"a".repeat(2_048 - 29)}`;
    expect(isSink(`https://${longestName}/`, [])).toBe(true);
    expect(isSink(longestUrl, [])).toBe(true);
  });

  test.each(Object.entries(notSinks))("a sink is refused when its text %s", (_, texts) => {
    expect(texts.filter((text) => isSink(text, allowed))).toEqual([]);
    expect(texts.filter((text) => isSink(text, []))).toEqual([]);
  });

  test.each([
    "http://127.0.0.1:8080/",
    "https://127.0.0.1:8080/",
    "http://localhost:8080/sink",
    "https://LOCALHOST:8080/sink",
    "https://10.1.2.3/",
    "http://10.1.2.3:443/",
    "http://[fd12::1]:8080/",
    "http://[fd12:0:0::1]:8080/",
  ])("a sink at %j is accepted only where the operator allows it", (text) => {
    expect(isSink(text, allowed)).toBe(true);
    expect(isSink(text, [])).toBe(false);
  });

  test("a sink at a public address is accepted only where the operator allows it", () => {
    const open = parseAllowedNetworks("8.8.8.0/24:443,[2606:4700:4700::]/48:443-8443") ?? [];
    const texts = ["https://8.8.8.8/", "http://8.8.8.8:443/", "https://[2606:4700:4700::1111]:8443/"];
    expect(texts.filter((text) => isSink(text, open))).toEqual(texts);
    expect(isSink("https://8.8.8.8:8443/", open)).toBe(false);
    expect(isSink("https://8.8.4.4/", open)).toBe(false);
  });

  test("the URL of a sink has a host, port, authority, path and the addresses of a literal", () => {
    expect(parseSink("https://Endpoint.Example.com/a/../b?c=d", [])).toEqual({
      secure: true,
      hostname: "endpoint.example.com",
      port: 443,
      authority: "endpoint.example.com",
      path: "/b?c=d",
      addresses: undefined,
    });
    expect(parseSink("http://[fd12::0001]:8080", allowed)).toEqual({
      secure: false,
      hostname: "fd12::1",
      port: 8_080,
      authority: "[fd12::1]:8080",
      path: "/",
      addresses: ["fd12::1"],
    });
  });

  test("localhost has the loopback addresses that the operator allows", () => {
    expect(parseSink("http://localhost:8080/", allowed)?.addresses).toEqual(["127.0.0.1"]);
    const both = parseAllowedNetworks("127.0.0.1/32:8080,[::1]/128:8080") ?? [];
    expect(parseSink("http://localhost:8080/", both)?.addresses).toEqual(["127.0.0.1", "::1"]);
  });
});

test("all URLs of a server have one host and port", () => {
  expect(sinkHost("https://Endpoint.example.com/a")).toBe("endpoint.example.com:443");
  expect(sinkHost("https://endpoint.example.com:443?b")).toBe("endpoint.example.com:443");
  expect(sinkHost("https://endpoint.example.com:8443")).toBe("endpoint.example.com:8443");
  expect(sinkHost("http://127.0.0.1/")).toBe("127.0.0.1:80");
  expect(sinkHost("https://[2606:4700::0:1]/")).toBe("[2606:4700::1]:443");
});

describe("a connection for a sink", () => {
  const everything = parseAllowedNetworks("0.0.0.0/0:1-65535,[::]/0:1-65535") ?? [];

  test("an attempt may connect to public addresses, and to others only at an allowed port", () => {
    const reach = { allowed, runtimeApi: undefined };
    expect(mayConnect("8.8.8.8", 443, reach)).toBe(true);
    expect(mayConnect("127.0.0.1", 8_080, reach)).toBe(true);
    expect(mayConnect("127.0.0.1", 443, reach)).toBe(false);
    expect(mayConnect("10.0.0.1", 8_080, reach)).toBe(false);
    expect(mayConnect("169.254.169.254", 80, { ...reach, allowed: everything })).toBe(false);
    expect(mayConnect("", 443, reach)).toBe(false);
  });

  test.each(["10.9.8.7:9001", "8.8.8.8:9001", "[2606:4700:4700:0::1111]:9001", "localhost:9001"])(
    "an attempt may not connect to a runtime API at %s",
    (runtimeApi) => {
      const reach = { allowed: everything, runtimeApi };
      const addresses = ["10.9.8.7", "8.8.8.8", "2606:4700:4700::1111", "127.0.0.1"];
      const open = addresses.filter((address) => mayConnect(address, 9_001, reach));
      expect(open).toHaveLength(runtimeApi.startsWith("localhost") ? 3 : 2);
      expect(addresses.filter((address) => mayConnect(address, 9_000, reach))).toEqual(addresses);
    },
  );
});
