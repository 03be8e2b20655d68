/** The meaning of a sink's status: delivered, to be retried, or refused for good (docs/deliveries.md). */
export function outcomeOf(status: number): "delivered" | "failed" | "refused" {
  if (status >= 200 && status <= 299) return "delivered";
  return status === 408 || status === 429 || (status >= 500 && status <= 599) ? "failed" : "refused";
}

const maxRetrySeconds = 3_600;

/**
 * The seconds that `Retry-After` asks for, limited to 0…3600; 0 for a time in the past.
 * @param header a number of seconds or an IMF-fixdate. Obsolete date formats, which must not be generated (RFC 9110
 * sections 5.6.7 and 10.2.3), are ignored.
 * @returns undefined if the header is missing or malformed.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  const seconds = secondsIn(header ?? "", now);
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 0), maxRetrySeconds);
}

function secondsIn(header: string, now: Date): number | undefined {
  if (/^\d+$/.test(header)) return Number(header);
  const date = new Date(header);
  const isExact = !Number.isNaN(date.getTime()) && date.toUTCString() === header;
  return isExact ? Math.ceil((date.getTime() - now.getTime()) / 1_000) : undefined;
}
