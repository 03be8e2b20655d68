import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { testPasswordHashLn } from "../../shared/environment.ts";

const derive = promisify<Buffer, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** OWASP's parameters for scrypt with 32 MiB: N = 2^15, r = 8, p = 3; about a quarter of a second. */
const owasp = { ln: 15, r: 8, p: 3 } as const;

/** The parameters of hashes that are made now. */
const current = (): Parameters => ({ ...owasp, ln: testPasswordHashLn() ?? owasp.ln });

const hashBytes = 32;
const saltBytes = 16;

const format = /^\$sha256-scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;

/**
 * A hash of no known password, with the current parameters: verifying against it takes as long as against any other.
 */
const nobody = () => encode(current(), randomBytes(saltBytes), randomBytes(hashBytes));

interface Parameters {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/**
 * Hashes a password into a PHC string that names its own parameters and salt.
 * @param ln log2 of scrypt's N, which only tests give.
 */
export async function hashPassword(password: string, ln = current().ln): Promise<string> {
  const salt = randomBytes(saltBytes);
  const parameters = { ...owasp, ln };
  return encode(parameters, salt, await run(password, salt, parameters));
}

/**
 * Whether a password belongs to a hash. Without a hash the answer is no, after the same work.
 * @throws {Error} when the stored hash is not one of `hashPassword`.
 */
export async function passwordMatches(password: string, passwordHash: string | undefined): Promise<boolean> {
  const { parameters, salt, hash } = decode(passwordHash ?? nobody());
  const actual = await run(password, salt, parameters);
  return timingSafeEqual(actual, hash) && passwordHash !== undefined;
}

/**
 * Whether a hash takes less memory or less work than one made today.
 * @throws {Error} when the stored hash is not one of `hashPassword`.
 */
export function isOutdated(passwordHash: string): boolean {
  const { parameters } = decode(passwordHash);
  const memoryOf = ({ ln, r }: Parameters) => 2 ** ln * r;
  const today = current();
  const isSmaller = memoryOf(parameters) < memoryOf(today);
  return isSmaller || memoryOf(parameters) * parameters.p < memoryOf(today) * today.p;
}

/**
 * NFKC first, so that a password typed on another keyboard has the same bytes. Then SHA-256, because scrypt takes
 * a password and the same one with zero bytes behind it for equal.
 */
function run(password: string, salt: Buffer, { ln, r, p }: Parameters): Promise<Buffer> {
  const N = 2 ** ln;
  const digest = createHash("sha256").update(password.normalize("NFKC")).digest();
  return derive(digest, salt, hashBytes, { N, r, p, maxmem: 256 * N * r });
}

function encode({ ln, r, p }: Parameters, salt: Buffer, hash: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  return `$sha256-scrypt$ln=${ln},r=${r},p=${p}$${text(salt)}$${text(hash)}`;
}

function decode(passwordHash: string): { parameters: Parameters; salt: Buffer; hash: Buffer } {
  const [, ln, r, p, salt, hash] = format.exec(passwordHash) ?? [];
  if (salt === undefined || hash === undefined) throw new Error("stored password hash is malformed");
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  return { parameters, salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") };
}
