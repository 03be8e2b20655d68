import { dayOf } from "../../../shared/calendar.ts";
import { setting } from "../../../shared/environment.ts";
import { serve } from "../../../shared/http/serve.ts";
import { DENSITY_ASYNC_LIMIT } from "../../../shared/variables/density-async-limit.ts";
import { DENSITY_PENDING_LIMIT } from "../../../shared/variables/density-pending-limit.ts";
import { DENSITY_PRECISIONS } from "../../../shared/variables/density-precisions.ts";
import { DENSITY_SYNC_LIMIT } from "../../../shared/variables/density-sync-limit.ts";
import { weeksRemembered } from "../privacy/typical-week.ts";
import { monthsFrom } from "../query/intervals.ts";
import { maxHours, maxPoints, maxTileDays, minPoints, months } from "../query/limits.ts";
import { readDataSet } from "../tiles/data-set-store.ts";
import { forecastQuality } from "../tiles/forecast-error.ts";
import { readQuality } from "../tiles/quality-store.ts";
import { utcCalendar } from "../tiles/typical-calendar.ts";
import { retrieveCapabilities } from "./contract.ts";
import { announcedCoverage } from "./coverage.ts";
import { announcedQuality } from "./quality.ts";
import { announcedThresholds } from "./thresholds.ts";

/** Returns what can be asked for at the moment, and what the densities are made from. */
export const handler = serve(retrieveCapabilities, async ({ now, signal, reply }) => {
  const [dataSet, quality] = await Promise.all([readDataSet(signal), readQuality(signal)]);
  const { calendar = utcCalendar, compared = [], newestDay, provenance = [] } = dataSet ?? {};
  const [first, last] = [-months, months].map((ahead) => dayOf(new Date(monthsFrom(now, ahead))));
  return reply(200, {
    precisions: [...setting(DENSITY_PRECISIONS)],
    area: { minPoints, maxPoints },
    period: { maxHours, monthsBack: months, monthsAhead: months },
    limits: {
      synchronous: { slots: setting(DENSITY_SYNC_LIMIT), tileDays: maxTileDays.sync },
      asynchronous: { slots: setting(DENSITY_ASYNC_LIMIT), tileDays: maxTileDays.async },
      pendingOperations: setting(DENSITY_PENDING_LIMIT),
    },
    ...announcedThresholds(dataSet),
    ...announcedCoverage(dataSet),
    ...(newestDay === undefined ? {} : { newestObservedDay: newestDay }),
    typicalWeek: {
      weeks: weeksRemembered,
      timeZone: calendar.timeZone,
      holidays: calendar.holidays.filter((day) => day >= (first ?? "") && day <= (last ?? "")),
    },
    forecastQuality: forecastQuality(compared).map(({ newestDay, wape, boxes, ...quality }) => ({
      ...quality,
      newestObservedDay: newestDay,
      ...(boxes === undefined
        ? {}
        : { regions: boxes.map(({ west, south, east, north }) => [west, south, east, north]) }),
      ...(wape === undefined ? {} : { wape }),
    })),
    quality: announcedQuality(quality),
    provenance,
  });
});
