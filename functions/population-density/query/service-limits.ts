import { setting } from "../../../shared/environment.ts";
import { DENSITY_ASYNC_LIMIT } from "../../../shared/variables/density-async-limit.ts";
import { DENSITY_PRECISIONS } from "../../../shared/variables/density-precisions.ts";
import { DENSITY_SYNC_LIMIT } from "../../../shared/variables/density-sync-limit.ts";
import type { ServiceLimits } from "./supported.ts";

/** What this deployment supports, as it is configured. */
export function serviceLimits(): ServiceLimits {
  return {
    precisions: setting(DENSITY_PRECISIONS),
    syncLimit: setting(DENSITY_SYNC_LIMIT),
    asyncLimit: setting(DENSITY_ASYNC_LIMIT),
  };
}
