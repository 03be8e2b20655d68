/**
 * Where people may be; `home` is around where they live, which is also where some of them work and most streets are.
 */
export const placeKinds = ["home", "workplace", "attraction", "station", "park"] as const;

/** One of `placeKinds`. */
export type PlaceKind = (typeof placeKinds)[number];

type Activity = "work" | "leisure" | "travel" | "park";

type Day = "workday" | "friday" | "saturday" | "sunday";

/** Where those are who do something. */
const places: Readonly<Record<Activity, Readonly<Partial<Record<PlaceKind, number>>>>> = {
  work: { home: 0.3, workplace: 0.7 },
  leisure: { home: 0.35, attraction: 0.65 },
  travel: { home: 0.55, workplace: 0.25, station: 0.2 },
  park: { park: 1 },
};

/**
 * Per cent of all people, from midnight on by local hour; those who are left are at home. Weighed so that the centre is
 * full in working hours, roads and stations twice a workday, the old town on Friday and Saturday evening, and parks on
 * the afternoons of the weekend.
 */
const away: Readonly<Record<Activity, Readonly<Record<Day, readonly number[]>>>> = {
  work: {
    workday: [3, 3, 3, 3, 4, 6, 12, 25, 38, 44, 45, 44, 38, 40, 44, 44, 40, 30, 18, 11, 8, 6, 5, 4],
    friday: [3, 3, 3, 3, 4, 6, 12, 25, 37, 43, 44, 43, 37, 38, 41, 39, 32, 23, 15, 10, 8, 7, 6, 5],
    saturday: [3, 3, 3, 3, 3, 4, 6, 9, 12, 15, 16, 16, 14, 14, 15, 15, 14, 12, 9, 7, 6, 5, 5, 4],
    sunday: [3, 3, 2, 2, 2, 3, 4, 5, 6, 7, 7, 7, 7, 6, 6, 6, 6, 6, 5, 5, 4, 4, 4, 3],
  },
  leisure: {
    workday: [2, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 8, 6, 5, 5, 6, 8, 10, 11, 10, 8, 6, 4],
    friday: [2, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 8, 6, 5, 6, 8, 11, 14, 16, 16, 15, 13, 10],
    saturday: [8, 5, 3, 2, 1, 1, 1, 2, 4, 7, 10, 12, 13, 14, 16, 17, 17, 16, 15, 16, 17, 16, 14, 11],
    sunday: [8, 5, 3, 2, 1, 1, 1, 1, 2, 4, 6, 8, 10, 9, 9, 9, 8, 7, 6, 6, 5, 4, 3, 2],
  },
  travel: {
    workday: [1, 0.5, 0.4, 0.4, 0.7, 2, 5, 9, 9, 4, 2.5, 2.5, 3.5, 3, 2.5, 3, 5, 8, 8, 5, 3, 2, 1.5, 1.2],
    friday: [1, 0.5, 0.4, 0.4, 0.7, 2, 5, 9, 9, 4, 2.5, 2.5, 3.5, 3, 3, 5, 7, 8.5, 8, 5, 3.5, 3, 2.5, 2],
    saturday: [2, 1, 0.7, 0.5, 0.5, 1, 1.5, 2, 3, 3.5, 4, 4, 4, 4, 4, 4, 4.5, 5, 5, 4, 3, 2.5, 2.5, 2],
    sunday: [2, 1, 0.7, 0.5, 0.5, 0.7, 1, 1, 1.5, 2, 2.5, 3, 3, 3, 3, 3, 3.5, 4.5, 5, 4, 3, 2, 1.5, 1],
  },
  park: {
    workday: [
      0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.2, 0.2, 0.3, 0.4, 0.7, 0.6, 0.5, 0.6, 0.7, 0.5, 0.3, 0.1, 0, 0, 0, 0,
    ],
    friday: [
      0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.2, 0.2, 0.3, 0.4, 0.7, 0.6, 0.6, 0.7, 0.7, 0.5, 0.3, 0.1, 0, 0, 0, 0,
    ],
    saturday: [
      0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.4, 0.7, 1, 1.2, 1.1, 1.3, 1.7, 1.9, 1.6, 0.9, 0.3, 0.1, 0, 0, 0, 0,
    ],
    sunday: [
      0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.4, 0.9, 1.4, 1.6, 1.3, 1.7, 2.3, 2.5, 2, 1.1, 0.3, 0.1, 0, 0, 0, 0,
    ],
  },
};

/** Which share of all people is at places of a kind, by the local time of an instant. */
export function sharesIn(timeZone: string): (kind: PlaceKind, instant: Date) => number {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    hourCycle: "h23",
  });
  const known = new Map<number, Readonly<Record<PlaceKind, number>>>();
  return (kind, instant) => {
    const shares = known.get(instant.getTime()) ?? sharesAt(format.formatToParts(instant));
    known.set(instant.getTime(), shares);
    return shares[kind];
  };
}

function sharesAt(local: readonly Intl.DateTimeFormatPart[]): Readonly<Record<PlaceKind, number>> {
  const part = (wanted: string) => local.find(({ type }) => type === wanted)?.value ?? "";
  const [day, hour] = [days[part("weekday")] ?? "workday", Number(part("hour"))];
  const shares = { home: 1, workplace: 0, attraction: 0, station: 0, park: 0 };
  for (const activity of Object.keys(away) as Activity[]) {
    const share = (away[activity][day][hour] ?? Number.NaN) / 100;
    shares.home -= share;
    for (const kind of placeKinds) shares[kind] += share * (places[activity][kind] ?? 0);
  }
  return shares;
}

/** Weekdays that are not like the others. */
const days: Readonly<Record<string, Day>> = { Fri: "friday", Sat: "saturday", Sun: "sunday" };
