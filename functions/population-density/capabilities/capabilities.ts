import { setting } from "../../../shared/environment.ts";
import { serve } from "../../../shared/http/serve.ts";
import { maxHours, maxPoints, maxTileDays, minPoints, months } from "../query/limits.ts";
import { readDataSet } from "../tiles/data-set-store.ts";
import { retrieveCapabilities } from "./contract.ts";
import { announcedThresholds } from "./thresholds.ts";

/** Returns what can be asked for at the moment, and what the densities are made from. */
export const handler = serve(retrieveCapabilities, async ({ signal, reply }) => {
  const dataSet = await readDataSet(signal);
  const { coverage, newestDay, provenance = [] } = dataSet ?? {};
  return reply(200, {
    precisions: [...setting("DENSITY_PRECISIONS")],
    area: { minPoints, maxPoints },
    period: { maxHours, monthsBack: months, monthsAhead: months },
    limits: {
      synchronous: { slots: setting("DENSITY_SYNC_LIMIT"), tileDays: maxTileDays.sync },
      asynchronous: { slots: setting("DENSITY_ASYNC_LIMIT"), tileDays: maxTileDays.async },
      pendingOperations: setting("DENSITY_PENDING_LIMIT"),
    },
    ...announcedThresholds(dataSet),
    ...(coverage === undefined ? {} : { coverage }),
    ...(newestDay === undefined ? {} : { newestObservedDay: newestDay }),
    provenance,
  });
});
