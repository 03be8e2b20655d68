/** The right to one upload. */
export interface Permit {
  readonly operationId: string;
  /** The lease of its holder. The previous version of the service reserved permits for ten seconds without one. */
  readonly holder?: string | undefined;
  /** Hash of the sink's host and port. */
  readonly host: string;
  /** Hash of the caller. */
  readonly caller: string;
  readonly mode: "answer" | "failure";
  /** When the holder's job was due, in epoch milliseconds; absent when the previous version wrote the permits. */
  readonly since?: number | undefined;
  /** Epoch milliseconds at which the permit expires: its holder no longer runs then. */
  readonly until: number;
}

/** A request for a permit. */
export type PermitRequest = Omit<Permit, "until" | "holder" | "since"> & {
  readonly holder: string;
  readonly since: number;
};

/** Maximum of concurrent uploads to a host, of all callers. */
export const uploadsPerHost = 4;

/** Maximum of concurrent uploads of one caller to one host: fewer, so that no caller takes up a host alone. */
export const uploadsPerCallerAndHost = 3;

/**
 * Maximum of concurrent failures per host, and per caller. Failures are small, and do not wait for answers to the host.
 */
const failuresPerHost = 2;
const failuresPerCaller = 2;

/**
 * The permits that hold a job back; undefined if it can be sent.
 *
 * Half of the workers are kept for the first upload of each caller: a caller with an upload in progress begins another
 * only while fewer than half of the workers are in use. So half as many callers as there are workers may be held up by
 * slow sinks, and the next caller still finds a free worker.
 *
 * @param permits in use or expired, as they are stored.
 * @param workers that can send at a time, at least two.
 */
export function limitReached(
  permits: readonly Permit[],
  { host, caller, mode }: Pick<PermitRequest, "host" | "caller" | "mode">,
  workers: number,
  now: number,
): readonly Permit[] | undefined {
  const inUse = permits.filter(({ until }) => until > now);
  const own = inUse.filter((permit) => permit.caller === caller);
  if (own.length > 0 && inUse.length >= Math.floor(workers / 2)) return inUse;
  const toHost = inUse.filter((permit) => permit.mode === mode && permit.host === host);
  if (toHost.length >= (mode === "failure" ? failuresPerHost : uploadsPerHost)) return toHost;
  const ownAlike = own.filter(
    (permit) => permit.mode === mode && (mode === "failure" || permit.host === host),
  );
  return ownAlike.length >= (mode === "failure" ? failuresPerCaller : uploadsPerCallerAndHost)
    ? ownAlike
    : undefined;
}
