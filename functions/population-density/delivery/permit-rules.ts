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

/** All permits, and until when jobs may wait for one. */
export interface PermitsInUse {
  readonly permits: readonly Permit[];
  /** Until then, in epoch milliseconds, the message of a job that waits may be hidden. It never decreases. */
  readonly waitedUntil: number;
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

/**
 * Maximum of concurrent failures sent to a host, and of those of one caller: they are small, and do not wait for
 * uploads.
 */
const failuresPerHost = 2;
const failuresPerCaller = 2;

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
  request: Omit<PermitRequest, "holder">,
  workers: number,
  now: number,
): string | undefined {
  return limitsReached(permits, request, workers, now)[0];
}

function limitsReached(
  permits: readonly Permit[],
  { operationId, host, caller, mode }: Omit<PermitRequest, "holder">,
  workers: number,
  now: number,
): readonly string[] {
  const inUse = permits.filter(
    (permit) => permit.until > now && !(permit.operationId === operationId && permit.holder === undefined),
  );
  const alike = inUse.filter((permit) => permit.mode === mode);
  const toHost = alike.filter((permit) => permit.host === host);
  const own = alike.filter((permit) => permit.caller === caller).length;
  const names = limitNames(host, caller);
  const reached = (name: string, inUseOfIt: number, limit: number) => (inUseOfIt < limit ? [] : [name]);
  if (mode === "failure") {
    return [
      ...reached(names.failures, toHost.length, failuresPerHost),
      ...reached(names.callerFailures, own, failuresPerCaller),
    ];
  }
  const others = inUse.filter((permit) => permit.caller !== caller).length;
  const ownToHost = toHost.filter((permit) => permit.caller === caller).length;
  return [
    ...reached(names.host, toHost.length, uploadsPerHost),
    ...reached(names.callerAndHost, ownToHost, uploadsPerCallerAndHost),
    ...reached(names.caller, own, Math.max(1, Math.floor((workers - others) / 2))),
  ];
}

/** The limits of an upload, by their names. */
function limitNames(host: string, caller: string) {
  return {
    host: `host ${host}`,
    callerAndHost: `caller ${caller} host ${host}`,
    caller: `caller ${caller}`,
    failures: `failures ${host}`,
    callerFailures: `failures of caller ${caller}`,
  };
}

/** The limits that an upload can wait at. */
export function limitsOf(host: string, caller: string): readonly string[] {
  return Object.values(limitNames(host, caller));
}

/**
 * The limits at which a job may wait for a permit that was released: those of its host and caller, and the shares of
 * all callers that have permits, as each grows with what others leave. A limit that is still reached is left out: no
 * job that waits at it may go.
 *
 * @param permits that are left.
 */
export function limitsFreed(
  host: string,
  caller: string,
  permits: readonly Permit[],
  workers: number,
  now: number,
): readonly string[] {
  const callers = [...new Set([caller, ...permits.map((permit) => permit.caller)])];
  return callers.flatMap((one) => {
    const request = { operationId: "", host, caller: one };
    const modes = ["answer", "failure"] as const;
    const reached = modes.flatMap((mode) => limitsReached(permits, { ...request, mode }, workers, now));
    const names = one === caller ? limitsOf(host, one) : [limitNames(host, one).caller];
    return names.filter((name) => !reached.includes(name));
  });
}

/** For how long a permit is kept for a job that is being woken. */
const reservedMilliseconds = 10_000;

/**
 * Reserves free permits for the jobs that wait for them, the longest waiting first.
 * @param candidates the jobs that wait at the limits in question.
 * @returns the permits with the reserved ones, the jobs to be woken, and jobs that another limit than the one they wait
 * at holds back, each with that limit: the first job of each.
 */
export function handOver(
  permits: readonly Permit[],
  candidates: readonly Waiting[],
  workers: number,
  now: number,
): {
  readonly permits: readonly Permit[];
  readonly woken: readonly Waiting[];
  readonly heldBack: readonly { readonly entry: Waiting; readonly limit: string }[];
} {
  let left = permits.filter(({ until }) => until > now);
  const woken: Waiting[] = [];
  const heldBack = new Map<string, Waiting>();
  for (const candidate of candidates.toSorted((one, other) => one.since - other.since)) {
    const limit = limitReached(left, candidate, workers, now);
    if (limit !== undefined) {
      if (limit !== candidate.limit && !heldBack.has(limit)) heldBack.set(limit, candidate);
      continue;
    }
    const { operationId, host, caller, mode } = candidate;
    left = [
      ...left.filter((permit) => permit.operationId !== operationId || permit.holder !== undefined),
      { operationId, host, caller, mode, until: now + reservedMilliseconds },
    ];
    woken.push(candidate);
  }
  return { permits: left, woken, heldBack: [...heldBack].map(([limit, entry]) => ({ entry, limit })) };
}
