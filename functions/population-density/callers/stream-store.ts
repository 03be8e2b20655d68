/**
 * The large answers that a caller is being sent. Each keeps an execution busy for as long as its caller reads, so one
 * caller may have only some at a time (docs/decisions/0010).
 */
import { randomBytes } from "node:crypto";
import { getItem, updateItem } from "../../../shared/aws/database.ts";
import { whileChanged } from "../../../shared/aws/while-changed.ts";
import { hashed } from "../../../shared/hash.ts";
import { streamingSeconds } from "../../../shared/http/deadline.ts";
import { densityCallers, maxStreams } from "./tables.ts";

/** A second try follows the removal of lapsed streams. */
const maxTries = 2;

const separator = "/";

/** The key of a caller's streams, an item of their own: it ends long before the one of the pending operations. */
export const streamsKey = (client: string) => ({ caller: `${hashed(client)}${separator}streams` });

/**
 * The name of a new stream. One that is not ended, because its execution broke off, lapses when its function would have
 * timed out.
 */
export function newStream(now: Date): string {
  const lapsesAt = Math.ceil(now.getTime() / 1_000) + streamingSeconds;
  return `${lapsesAt}${separator}${randomBytes(6).toString("base64url")}`;
}

/** The epoch second at which a stream lapses. */
const lapseOf = (stream: string) => Number(stream.split(separator)[0]);

/**
 * Begins a stream to a caller, by one conditional write; a refusal takes a read too. After an error it may have begun.
 * @returns false when as many as allowed are being sent.
 */
export async function beginStream(
  client: string,
  stream: string,
  now: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const begin = {
    update: "ADD streams :one SET expiresAt = :expiresAt",
    // Sent again after its answer was lost, it counts once.
    condition: "attribute_not_exists(streams) OR size(streams) < :max OR contains(streams, :name)",
    values: {
      ":one": new Set([stream]),
      ":name": stream,
      ":max": maxStreams,
      ":expiresAt": lapseOf(stream) + streamingSeconds,
    },
  };
  const isBegun = await whileChanged(maxTries, async () => {
    if (await updateItem(densityCallers, streamsKey(client), begin, signal)) return true;
    const streams = (await getItem(densityCallers, streamsKey(client), signal))?.streams ?? new Set();
    const lapsed = [...streams].filter((name) => lapseOf(name) * 1_000 < now.getTime());
    if (lapsed.length === 0) return false;
    await endStreams(client, lapsed, signal);
    return undefined;
  });
  return isBegun === true;
}

/** Ends streams; one that has ended stays so. */
export async function endStreams(
  client: string,
  streams: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const write = {
    update: "DELETE streams :ended",
    condition: "attribute_exists(streams)",
    values: { ":ended": new Set(streams) },
  };
  await updateItem(densityCallers, streamsKey(client), write, signal);
}
