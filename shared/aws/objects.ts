import { Readable } from "node:stream";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { bucketVariable, resourceName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { clientDefaults, failureOf, isRetryable } from "./clients.ts";

/** The time-out of one call, whose object or part has several megabytes. */
const callMilliseconds = 60_000;

/** S3 responds to a part once it has received all of it. */
const responseMilliseconds = 20_000;

/** Calls are retried for about a minute, because no caller is waiting. */
const attempts = 8;

let client: S3Client | undefined;

function connected(): S3Client {
  client ??= new S3Client({
    maxAttempts: attempts,
    requestHandler: {
      ...clientDefaults().requestHandler,
      requestTimeout: responseMilliseconds,
      socketTimeout: responseMilliseconds,
    },
    // By default the checksum of a stream follows it as a trailer, which not every S3 server supports.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return client;
}

/** @throws {Unavailable} if S3 did not answer; any other error is a bug in this code. */
async function call<Output>(
  run: (client: S3Client, options: { abortSignal: AbortSignal }) => Promise<Output>,
): Promise<Output> {
  try {
    return await run(connected(), { abortSignal: AbortSignal.timeout(callMilliseconds) });
  } catch (error) {
    if (!isRetryable(error)) throw error;
    throw new Unavailable("S3", failureOf(error));
  }
}

const bucket = () => resourceName(bucketVariable);

/** Some bytes of an object. */
export interface ByteRange {
  readonly offset: number;
  /** At least 1. */
  readonly bytes: number;
}

/**
 * Reads an object, or a range of it.
 * @throws S3's error if the object does not exist.
 */
export async function getBytes(key: string, range?: ByteRange): Promise<Uint8Array<ArrayBuffer>> {
  const { bytes } = await read(key, range);
  return bytes;
}

/** @param version the required version of the object; if undefined, any. */
async function read(key: string, range?: ByteRange, version?: string) {
  return await call(async (to, options) => {
    const command = new GetObjectCommand({
      Bucket: bucket(),
      Key: key,
      ...(range === undefined ? {} : { Range: `bytes=${range.offset}-${range.offset + range.bytes - 1}` }),
      ...(version === undefined ? {} : { IfMatch: version }),
    });
    const { Body, ContentRange, ETag } = await to.send(command, options);
    if (Body === undefined) throw new Error("an object has no body");
    return { bytes: new Uint8Array(await Body.transformToByteArray()), ContentRange, ETag };
  });
}

/** How much of an object one call reads. */
const bytesAtOnce = 16 * 2 ** 20;

/** The object is not the one that was listed, or was replaced while it was being read. */
export class ObjectChanged extends Error {}

/** S3's errors if an object has another version, or ends before the range. */
const changes = ["PreconditionFailed", "InvalidRange"];

/**
 * Reads an object of any size, all of it from one version, with `bytesAtOnce` in memory.
 * @param size in bytes, as listed.
 * @throws {ObjectChanged} if the object has another size or is replaced meanwhile.
 */
export async function* readInPieces(key: string, size: number): AsyncGenerator<Uint8Array> {
  let version: string | undefined;
  for (let offset = 0; offset < size; offset += bytesAtOnce) {
    const range = { offset, bytes: Math.min(bytesAtOnce, size - offset) };
    const { bytes, ContentRange, ETag } = await read(key, range, version).catch((error: Error) => {
      throw changes.includes(error.name) ? new ObjectChanged() : error;
    });
    if (ContentRange !== `bytes ${offset}-${offset + range.bytes - 1}/${size}`) throw new ObjectChanged();
    version = ETag;
    yield bytes;
  }
}

/** Writes an object, replacing an existing one. */
export async function putBytes(key: string, bytes: Uint8Array): Promise<void> {
  const command = new PutObjectCommand({ Bucket: bucket(), Key: key, Body: bytes });
  await call((to, options) => to.send(command, options));
}

/** The keys that begin with a prefix, in ascending order. */
export async function* keysOf(prefix: string): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const command = new ListObjectsV2Command({ Bucket: bucket(), Prefix: prefix, ContinuationToken: token });
    const { Contents = [], NextContinuationToken } = await call((to, options) => to.send(command, options));
    for (const { Key } of Contents) if (Key !== undefined) yield Key;
    token = NextContinuationToken;
  } while (token !== undefined);
}

/** S3 accepts parts of at least 5 MiB, except for the last one, and at most 10,000 of them. */
const partBytes = 8 * 2 ** 20;

/** One part is sent while the next one is made. */
const partsAtOnce = 2;

/**
 * Writes an object of any size, with `partsAtOnce` and the next one in memory. The object appears only when all of it
 * has been written; each part has the time limit of a call. A source or a part that fails leaves neither an object nor
 * parts; parts that S3 fails to put together are deleted by the bucket's rule after a day.
 * @param pieces may use their memory again.
 */
export async function putPieces(key: string, pieces: Iterable<Uint8Array>): Promise<void> {
  // An upload sends its commands without time limits.
  const client = Object.create(connected(), {
    send: { value: (command: PutObjectCommand) => call((to, options) => to.send(command, options)) },
  });
  const params = { Bucket: bucket(), Key: key, Body: Readable.from(copiesOf(pieces)) };
  await new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce }).done();
}

function* copiesOf(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) yield new Uint8Array(piece);
}
