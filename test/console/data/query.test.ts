import { expect, onTestFinished, test } from "vitest";
import { hoursFromNow, useServiceClock } from "../../../console/base/time.ts";
import { requestsOf } from "../../../console/data/query.ts";
import { parseDensityRequest } from "../../../functions/population-density/query/parse.ts";

const boundary = [
  { latitude: 45.7, longitude: 4.8 },
  { latitude: 45.7, longitude: 4.81 },
  { latitude: 45.71, longitude: 4.81 },
];
const areas = [{ areaType: "POLYGON", boundary }] as const;

test("at 12:10, the API answers the request of “Now” with the hour of 12:00, and one for 11:00 with that hour", () => {
  const now = new Date("2026-11-27T12:10Z");

  const asked = ["2026-11-27T12:00Z", "2026-11-27T11:00Z"].map((from) => {
    const [request] = requestsOf({ areas, from: new Date(from), hours: 1, precision: 7 }, now);
    const parsed = request && parseDensityRequest(request, now);
    return parsed && "asked" in parsed ? parsed.asked.map(({ ofDay }) => ofDay) : parsed;
  });

  expect(asked).toEqual([[12], [11]]);
});

test("“Now” asks for the hour that the service's clock has, where this machine's is three hours behind", () => {
  onTestFinished(() => useServiceClock(new Date().toUTCString()));
  useServiceClock(new Date(Date.now() + 3 * 3_600_000).toUTCString());

  const [request] = requestsOf({ areas, from: hoursFromNow(0), hours: 1, precision: 7 });

  expect(request?.endTime).toBe(request?.startTime);
});
