/**
 * The right to one upload. `holder` is absent while the permit is reserved for a job whose message was made visible.
 */
export interface Permit {
  readonly operationId: string;
  readonly holder?: string | undefined;
  /** Hash of the sink's host and port. */
  readonly host: string;
  /** Hash of the caller. */
  readonly caller: string;
  readonly mode: "answer" | "failure";
  /** Epoch milliseconds at which the permit expires: its holder no longer runs then. */
  readonly until: number;
}

/** A request for a permit. */
export type PermitRequest = Omit<Permit, "until" | "holder"> & { readonly holder: string };

/** A job that waits for a permit, and the receipt handle by which its message can be made visible. */
export interface Waiting extends Omit<Permit, "until" | "holder"> {
  /** The limit that it waits for. */
  readonly limit: string;
  /** When the job was due, in epoch milliseconds: the one that has waited longest goes first. */
  readonly since: number;
  readonly queue: string;
  readonly receiptHandle: string;
}

/** Maximum of concurrent uploads to a host, of all callers. */
export const uploadsPerHost = 4;

/** Maximum of concurrent uploads of one caller to one host: fewer, so that no caller occupies a host alone. */
export const uploadsPerCallerAndHost = 3;

/** Maximum of concurrent failures sent to a host: they are small, and do not wait for uploads. */
const failuresPerHost = 2;

/**
 * The limit that keeps a job from being sent now; undefined if there is none.
 *
 * A caller may have half of the workers that others leave free, and at least one, so that later callers find free
 * workers however slow the sinks of earlier ones are.
 *
 * @param permits in use; a permit that is reserved for the same job does not count.
 */
export function limitReached(
  permits: readonly Permit[],
  { operationId, host, caller, mode }: Omit<PermitRequest, "holder">,
  workers: number,
  now: number,
): string | undefined {
  const inUse = permits.filter(
    (permit) => permit.until > now && !(permit.operationId === operationId && permit.holder === undefined),
  );
  const toHost = inUse.filter((permit) => permit.host === host && permit.mode === mode);
  if (mode === "failure")
    return toHost.length < failuresPerHost ? undefined : limitNames(host, caller).failures;
  const names = limitNames(host, caller);
  if (toHost.length >= uploadsPerHost) return names.host;
  if (toHost.filter((permit) => permit.caller === caller).length >= uploadsPerCallerAndHost) {
    return names.callerAndHost;
  }
  const uploads = inUse.filter((permit) => permit.mode === "answer");
  const own = uploads.filter((permit) => permit.caller === caller).length;
  const share = Math.floor((workers - (uploads.length - own)) / 2);
  return own < Math.max(1, share) ? undefined : names.caller;
}

/** The limits of an upload, by their names. */
function limitNames(host: string, caller: string) {
  return {
    host: `host ${host}`,
    callerAndHost: `caller ${caller} host ${host}`,
    caller: `caller ${caller}`,
    failures: `failures ${host}`,
  };
}

/** The limits that an upload can wait at. */
export function limitsOf(host: string, caller: string): readonly string[] {
  return Object.values(limitNames(host, caller));
}

/**
 * The limits at which somebody may wait for a permit that comes free: those of its host and caller, and the shares of
 * all callers that have permits, as each grows with what others leave.
 */
export function limitsFreed(host: string, caller: string, permits: readonly Permit[]): readonly string[] {
  const shares = permits.map((permit) => limitNames(host, permit.caller).caller);
  return [...new Set([...limitsOf(host, caller), ...shares])];
}

/** For how long a permit is kept for a job that is being woken. */
const reservedMilliseconds = 10_000;

/**
 * Gives permits that came free to those who wait for them, the longest waiting first.
 * @param candidates who waits at the limits in question.
 * @returns the permits with those that are kept now, and who is to be woken.
 */
export function handOver(
  permits: readonly Permit[],
  candidates: readonly Waiting[],
  workers: number,
  now: number,
): { readonly permits: readonly Permit[]; readonly woken: readonly Waiting[] } {
  let left = permits.filter(({ until }) => until > now);
  const woken: Waiting[] = [];
  for (const candidate of candidates.toSorted((one, other) => one.since - other.since)) {
    if (limitReached(left, candidate, workers, now) !== undefined) continue;
    const { operationId, host, caller, mode } = candidate;
    left = [
      ...left.filter((permit) => permit.operationId !== operationId || permit.holder !== undefined),
      { operationId, host, caller, mode, until: now + reservedMilliseconds },
    ];
    woken.push(candidate);
  }
  return { permits: left, woken };
}
