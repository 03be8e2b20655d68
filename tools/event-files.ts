import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { functionIds } from "../infra/bundles.ts";
import type { FunctionId } from "../infra/functions.ts";
import { hourMilliseconds, instantOf } from "../shared/calendar.ts";

/** The folder of all events. */
export const eventsFolder = fileURLToPath(new URL("../events", import.meta.url));

/** An event on disk, with its times moved to now, its function, and the expected response. */
export interface EventFile {
  readonly functionId: FunctionId;
  readonly status: number;
  /** The error code in lower case with dashes, and perhaps more; for a success the case alone. */
  readonly outcome: string;
  readonly event: unknown;
}

const name = /^(?<operation>[a-z-]+)\.(?<status>\d{3})-(?<outcome>[a-z0-9-]+)\.json$/;

/** Every event as `<area>/<operation>.<status>-<case>.json`, in the order of names. */
export function eventFileNames(): readonly string[] {
  return readdirSync(eventsFolder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => name.test(basename(file)))
    .sort();
}

/** The members of an event and of its body that hold times. */
const received = z.looseObject({
  body: z.string().nullable(),
  isBase64Encoded: z.boolean(),
  requestContext: z.looseObject({ requestTimeEpoch: z.number() }),
});
const times = ["startTime", "endTime", "accessTokenExpiresUtc"];

/**
 * An event with the times of its body moved by the whole hours that have passed since it was recorded, so that a future
 * period is a future period again. Everything else stays as it is.
 */
export function replayedAt(event: unknown, now: Date): unknown {
  const parsed = received.safeParse(event);
  if (!parsed.success || parsed.data.body === null) return event;
  const { body, isBase64Encoded, requestContext } = parsed.data;
  const text = isBase64Encoded ? Buffer.from(body, "base64").toString() : body;
  const hours = Math.floor((now.getTime() - requestContext.requestTimeEpoch) / hourMilliseconds);
  let moved = text;
  for (const member of times) {
    moved = moved.replace(new RegExp(`("${member}":")([^"]*)"`), (whole, start: string, time: string) => {
      const instant = instantOf(time);
      if (instant === undefined) return whole;
      const milliseconds = instant.milliseconds + hours * hourMilliseconds;
      return `${start}${new Date(milliseconds).toISOString().slice(0, -1)}${instant.digits}Z"`;
    });
  }
  return { ...parsed.data, body: isBase64Encoded ? Buffer.from(moved).toString("base64") : moved };
}

/**
 * Reads `events/<area>/<operation>.<status>-<case>.json`.
 * @throws {Error} when the file's name does not give a status and a case, or is not that of its function.
 */
export async function readEventFile(path: string): Promise<EventFile> {
  const { operation = "", status, outcome = "" } = name.exec(basename(path))?.groups ?? {};
  const functionId = functionIds.find((id) => id === `${basename(dirname(path))}/${operation}`);
  if (functionId === undefined)
    throw new Error(`${path} is not named <area>/<operation>.<status>-<case>.json`);
  return {
    functionId,
    status: Number(status),
    outcome,
    event: replayedAt(JSON.parse(await readFile(path, "utf8")), new Date()),
  };
}

/** The event with this name below `events/`. */
export function readNamedEvent(file: string): Promise<EventFile> {
  return readEventFile(join(eventsFolder, file));
}
