import { generateKeyPairSync, sign } from "node:crypto";

/** A private key and a certificate, in PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/**
 * Makes a certificate that signs itself, and so is its own authority (RFC 5280), for a day before and after now.
 * @param names host names in it.
 * @param addresses IPv4 addresses in it.
 */
export function selfSignedCertificate(names: readonly string[], addresses: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(hex("06082a8648ce3d040302"));
  const name = sequence(element(0x31, sequence(hex("0603550403"), element(0x0c, Buffer.from("test")))));
  const alternativeNames = sequence(
    ...names.map((text) => element(0x82, Buffer.from(text))),
    ...addresses.map((address) => element(0x87, Buffer.from(address.split(".").map(Number)))),
  );
  const isAuthority = sequence(hex("0101ff"));
  const extensions = sequence(
    sequence(hex("0603551d11"), element(0x04, alternativeNames)),
    sequence(hex("0603551d13"), hex("0101ff"), element(0x04, isAuthority)),
  );
  const toBeSigned = sequence(
    hex("a003020102"), // version 3
    hex("020101"), // serial number 1
    ecdsaWithSha256,
    name,
    sequence(dateTime(-1), dateTime(1)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, extensions),
  );
  const signature = element(0x03, hex("00"), sign("sha256", toBeSigned, privateKey));
  const der = sequence(toBeSigned, ecdsaWithSha256, signature);
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

/** An element of DER (X.690): tag, length, content. */
function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const lengthBytes =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return element(0x30, ...contents);
}

/** A whole element, written out. */
function hex(digits: string): Buffer {
  return Buffer.from(digits, "hex");
}

function dateTime(daysFromNow: number): Buffer {
  const time = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return element(0x17, Buffer.from(`${time.slice(2, 19).replaceAll(/\D/g, "")}Z`));
}
