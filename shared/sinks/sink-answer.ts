/** The meaning of a sink's status: delivered, to be retried, or refused for good (docs/deliveries.md). */
export function outcomeOf(status: number): "delivered" | "failed" | "refused" {
  if (status >= 200 && status <= 299) return "delivered";
  return status === 408 || status === 429 || (status >= 500 && status <= 599) ? "failed" : "refused";
}

const maxRetrySeconds = 3_600;

/**
 * The seconds that `Retry-After` asks for, limited to 0…3600; 0 for a time in the past.
 * @param header a number of seconds, or a date in one of the three forms of RFC 9110, section 5.6.7.
 * @returns undefined if the header is missing or malformed.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  const seconds = secondsIn(header ?? "", now);
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 0), maxRetrySeconds);
}

function secondsIn(header: string, now: Date): number | undefined {
  if (/^\d+$/.test(header)) return Number(header);
  const fixed = fixdateOf(header, now);
  const date = new Date(fixed);
  const isExact = !Number.isNaN(date.getTime()) && date.toUTCString() === fixed;
  return isExact ? Math.ceil((date.getTime() - now.getTime()) / 1_000) : undefined;
}

/** `Sunday, 01-Mar-26 12:01:00 GMT` */
const rfc850 = /^((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day), (\d\d)-(\w{3})-(\d\d) ([\d:]{8}) GMT$/;
/** `Sun Mar  1 12:01:00 2026` */
const asctime = /^(\w{3}) (\w{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/;

/** The IMF-fixdate of an obsolete form; any other text as it is. */
function fixdateOf(header: string, now: Date): string {
  const century = (digits: string) => Math.floor((now.getUTCFullYear() + 50 - Number(digits)) / 100);
  return header
    .replace(
      rfc850,
      (_, weekday, day, month, year, time) =>
        `${weekday.slice(0, 3)}, ${day} ${month} ${century(year)}${year} ${time} GMT`,
    )
    .replace(
      asctime,
      (_, weekday, month, day, time, year) =>
        `${weekday}, ${day.replace(" ", "0")} ${month} ${year} ${time} GMT`,
    );
}
