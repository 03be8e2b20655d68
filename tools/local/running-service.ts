import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { queueVariable } from "../../shared/sqs/queues.ts";
import { cacheOf, ignoringUnwritable } from "../build-cache.ts";
import type { LocalService } from "./service.ts";

const announcements = join(cacheOf(), "running");

const announcement = z.object({
  pid: z.number(),
  url: z.string(),
  /** The variables for using its tables, queues and signing key, and for publishing densities as it does. */
  environment: z.record(z.string(), z.string()),
});

/** A service running on this machine, as other programs see it. */
export type RunningService = z.output<typeof announcement>;

/** Names, addresses and settings, but no AWS credentials. */
const announced = /^(?:DENSITY_|AWS_ENDPOINT_URL_|AWS_REGION$|SIGNING_KEY_SECRET_ARN$)/;

/** What is told of a service. */
type Announced = Pick<LocalService, "declarations" | "environmentOf" | "queueUrls" | "tableNames" | "url">;

/**
 * Tells other programs of this project where the service runs, until this program ends. If the folder is not writable,
 * the service runs, but those programs do not find it.
 */
export function announce(service: Announced, hasOwnServers: boolean, folder = announcements): void {
  const { declarations, environmentOf, tableNames, queueUrls } = service;
  const variables = declarations.functions.flatMap(({ id }) => Object.entries(environmentOf(id)));
  const environment = {
    ...Object.fromEntries(variables.filter(([name]) => announced.test(name))),
    // No single function has the variables of all tables and queues.
    ...tableNames,
    ...Object.fromEntries([...queueUrls].map(([queue, url]) => [queueVariable(queue), url])),
    // The embedded servers accept any credentials; other servers need those of the shell.
    ...(hasOwnServers
      ? {}
      : { AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local", AWS_SESSION_TOKEN: "" }),
  };
  const path = pathOf(Number(new URL(service.url).port), folder);
  const isWritten = ignoringUnwritable(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, JSON.stringify({ pid: process.pid, url: service.url, environment }), { mode: 0o600 });
  });
  if (isWritten) process.once("exit", () => rmSync(path, { force: true }));
}

/**
 * The service that runs on a port of this machine or, without a port, the only one that runs.
 * @throws {Error} saying what to do if there is none, or several.
 */
export function runningService(port?: number, folder = announcements): RunningService {
  const paths =
    port === undefined
      ? (unlessGone(() => readdirSync(folder)) ?? []).map((name) => join(folder, name))
      : [pathOf(port, folder)];
  const [running, ...others] = paths.flatMap((path) => unlessGone(() => announcedIn(path)) ?? []);
  if (others.length > 0) {
    const ports = [running, ...others].map((one) => new URL(one?.url ?? "").port).join(", ");
    throw new Error(
      `several services run on this machine: name the port of one, as in --local PORT: ${ports}`,
    );
  }
  if (running !== undefined) return running;
  const where = port === undefined ? "on this machine" : `on port ${port} of this machine`;
  throw new Error(
    `no service runs ${where}: run npm start${port === undefined ? "" : ", or name its port, as in --local 3001"}; ` +
      `if it runs, it could not write to ${folder}: make that folder writable, and start it again`,
  );
}

function announcedIn(path: string): RunningService {
  const running = announcement.parse(JSON.parse(readFileSync(path, "utf8")));
  process.kill(running.pid, 0);
  return running;
}

/** Undefined where there is no such file, or its program has ended. */
function unlessGone<Found>(find: () => Found): Found | undefined {
  try {
    return find();
  } catch (error) {
    const isGone =
      error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR", "ESRCH"].includes(`${error.code}`);
    if (!isGone) throw error;
    return undefined;
  }
}

function pathOf(port: number, folder: string): string {
  return join(folder, `${port}.json`);
}
