import { setting } from "../../../shared/environment.ts";
import type { ServiceLimits } from "./supported.ts";

/** What this deployment supports, as it is configured. */
export function serviceLimits(): ServiceLimits {
  return {
    precisions: setting("DENSITY_PRECISIONS"),
    syncLimit: setting("DENSITY_SYNC_LIMIT"),
    asyncLimit: setting("DENSITY_ASYNC_LIMIT"),
  };
}
