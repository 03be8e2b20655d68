import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { endpoints, protocolEndpoints, websites } from "../functions/areas.ts";
import type { FunctionId } from "../infra/functions.ts";
import { hourMilliseconds, instantOf } from "../shared/calendar.ts";
import { type Endpoint, pathsOf, verbsOf } from "../shared/endpoint.ts";
import { nearestName } from "../shared/nearest-name.ts";
import { withFreshAssertions } from "./demo-assertions.ts";
import { jsonIn, textOf } from "./json-text.ts";

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

/** The members of an event that say when it was recorded, and how its body is written. */
const received = z.looseObject({
  body: z.string().nullable(),
  isBase64Encoded: z.boolean(),
  requestContext: z.looseObject({ requestTimeEpoch: z.number() }),
});

/** The members of a body that hold times, each with how long before its end an hour counts as passed. */
const times = { startTime: hourMilliseconds / 4, endTime: hourMilliseconds / 4, accessTokenExpiresUtc: 0 };

/**
 * An event with the times of its body moved by the whole hours that have passed since it was recorded, so that a future
 * period is a future period again: for a quarter of an hour. Everything else stays as it is.
 */
export function replayedAt(event: unknown, now: Date): unknown {
  const parsed = received.safeParse(event);
  if (!parsed.success || parsed.data.body === null) return event;
  const { body, isBase64Encoded, requestContext } = parsed.data;
  const text = isBase64Encoded ? Buffer.from(body, "base64").toString() : body;
  const passed = now.getTime() - requestContext.requestTimeEpoch;
  let moved = text;
  for (const [member, ahead] of Object.entries(times)) {
    const hours = Math.floor((passed + ahead) / hourMilliseconds);
    moved = moved.replace(
      new RegExp(`("${member}"\\s*:\\s*")([^"]*)"`),
      (whole, start: string, time: string) => {
        const instant = instantOf(time);
        if (instant === undefined) return whole;
        const milliseconds = instant.milliseconds + hours * hourMilliseconds;
        return `${start}${new Date(milliseconds).toISOString().slice(0, -1)}${instant.digits}Z"`;
      },
    );
  }
  return { ...parsed.data, body: isBase64Encoded ? Buffer.from(moved).toString("base64") : moved };
}

/**
 * Reads an event from a file of any name, with its times moved to now. Its route says which function it is for.
 * @throws {Error} saying what is wrong with the file.
 */
export async function readEvent(path: string): Promise<Pick<EventFile, "functionId" | "event">> {
  const event = jsonIn(await textOf(path));
  if (event === undefined) throw new Error(`${path} is not JSON`);
  const parsed = routed.safeParse(event);
  if (!parsed.success) {
    const place = parsed.error.issues[0]?.path.join(".") || "it";
    throw new Error(`${path} is not an event of API Gateway's REST API: ${place} is missing or malformed`);
  }
  const { httpMethod, resource } = parsed.data;
  const route = `${httpMethod} ${resource}`;
  const functionId = routes.get(route);
  if (functionId === undefined) {
    const nearest = nearestName(route, [...routes.keys()]);
    throw new Error(
      `no function answers ${route}${nearest === undefined ? "" : `; the nearest route is ${nearest}`}`,
    );
  }
  const now = new Date();
  const moved = replayedAt(event, now);
  return { functionId, event: isForm(parsed.data.headers ?? {}) ? await signedAgain(moved, now) : moved };
}

function isForm(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) =>
      name.toLowerCase() === "content-type" && value.startsWith("application/x-www-form-urlencoded"),
  );
}

/** An event whose body is a form, with assertions of the demo's clients that are valid now. */
async function signedAgain(event: unknown, now: Date): Promise<unknown> {
  const { success, data } = received.safeParse(event);
  if (!success || data.body === null || data.isBase64Encoded) return event;
  return { ...data, body: await withFreshAssertions(data.body, now) };
}

/** What must be in an event for its function, and for its times to be moved. */
const routed = z.looseObject({
  httpMethod: z.string(),
  resource: z.string(),
  body: z.string().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  requestContext: z.looseObject({
    requestTimeEpoch: z.number().max(8.64e15),
    identity: z.looseObject({ sourceIp: z.string() }),
  }),
});

const routes: ReadonlyMap<string, FunctionId> = new Map([
  ...[...endpoints, ...protocolEndpoints].flatMap((endpoint: Endpoint) =>
    pathsOf(endpoint).flatMap((path) =>
      verbsOf(endpoint).map((verb) => [`${verb} ${path}`, endpoint.id as FunctionId] as const),
    ),
  ),
  ...websites.flatMap(({ id, paths }) => paths.map((path) => [`GET ${path}`, id] as const)),
]);

/**
 * Reads `events/<area>/<operation>.<status>-<case>.json`.
 * @throws {Error} when the file's name does not give a status and a case, or is not that of its function.
 */
export async function readEventFile(path: string): Promise<EventFile> {
  const { operation = "", status, outcome = "" } = name.exec(basename(path))?.groups ?? {};
  const { functionId, event } = await readEvent(path);
  if (functionId !== `${basename(dirname(path))}/${operation}`) {
    throw new Error(`${path} is for ${functionId}: name it ${functionId}.<status>-<case>.json`);
  }
  return { functionId, status: Number(status), outcome, event };
}

/** The event with this name below `events/`. */
export function readNamedEvent(file: string): Promise<EventFile> {
  return readEventFile(join(eventsFolder, file));
}
