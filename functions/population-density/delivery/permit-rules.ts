/** Whom an upload is for, and what it sends. */
export interface Upload {
  /** Hash of the sink's host and port. */
  readonly host: string;
  /** Hash of the caller. */
  readonly caller: string;
  readonly mode: "answer" | "failure";
}

/** The right to one upload. */
export interface Permit extends Upload {
  /** The lease of its holder, which is unique. */
  readonly holder: string;
  /** When the holder's job was due, in epoch milliseconds. */
  readonly since: number;
  /** When the permit expires, in epoch milliseconds; its holder is no longer running then. */
  readonly until: number;
}

/** A permit as it is stored: short, because every write of a permit costs the size of all. */
export function shortened(permit: Permit): Permit {
  const { host, caller, holder } = permit;
  return { ...permit, host: shortHost(host), caller: short(caller), holder: short(holder) };
}

/** Those permits that belong to one of some callers, given by their hashes. */
export function permitsOf(permits: readonly Permit[], callers: readonly string[]): readonly Permit[] {
  const wanted = new Set(callers.map(short));
  return permits.filter(({ caller }) => wanted.has(caller));
}

/** A prefix of a hash or id that distinguishes a few hundred. Callers that share it would share their limits. */
function short(id: string): string {
  return id.slice(0, 8);
}

/**
 * 72 bits of a host's hash: a caller chooses the hosts of its sinks, and must not find one that shares the limits of
 * another's. 48 bits can be searched within hours.
 */
function shortHost(host: string): string {
  return host.slice(0, 12);
}

/** Maximum of concurrent uploads to a host, for all callers together. */
export const uploadsPerHost = 4;

/** Maximum of concurrent uploads of one caller to one host: fewer, so that no caller takes up a host alone. */
export const uploadsPerCallerAndHost = 3;

/**
 * Maximum of concurrent failures per host, and per caller. Failures are small, and do not wait for answers to the host.
 */
const failuresPerHost = 2;
const failuresPerCaller = 2;

/** A worker gives a permit up sooner than this, if others were before it; clocks differ by less. */
const settlingMilliseconds = 10_000;

/**
 * The permits whose workers will not give way: those that no limit refuses with all the others, and those that are
 * clearly older than one that is wanted.
 */
export function settled(
  permits: readonly Permit[],
  wanted: Pick<Permit, "until">,
  workers: number,
  now: number,
): readonly Permit[] {
  return permits.filter((permit) => {
    const others = permits.filter((other) => other !== permit);
    const isOlder = permit.until < wanted.until - settlingMilliseconds;
    return isOlder || limitReached(others, permit, workers, now) === undefined;
  });
}

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
  upload: Upload,
  workers: number,
  now: number,
): readonly Permit[] | undefined {
  const { mode } = upload;
  const [host, caller] = [shortHost(upload.host), short(upload.caller)];
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

/**
 * Whether other uploads of a job's caller and to its host suffice to hold it back. Otherwise uploads of other callers
 * keep workers in use, and more workers would help.
 * @param holdingBack the permits that hold it back; see `limitReached`.
 */
export function isHeldBackByOwn(
  holdingBack: readonly Permit[],
  upload: Upload,
  workers: number,
  now: number,
): boolean {
  const [host, caller] = [shortHost(upload.host), short(upload.caller)];
  const own = holdingBack.filter((permit) => permit.host === host || permit.caller === caller);
  return limitReached(own, upload, workers, now) !== undefined;
}
