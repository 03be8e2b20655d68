import { configuration } from "../../../infra/variables.ts";
import { setting } from "../../../shared/environment.ts";

/** What the shell configures about densities, or what every function gets. */
export function configuredDensities(environment: NodeJS.ProcessEnv = process.env) {
  const defaults = {
    DENSITY_PRECISIONS: configuration.DENSITY_PRECISIONS.default,
    DENSITY_K: configuration.DENSITY_K.default,
  };
  const configured = { ...defaults, ...environment };
  return {
    /** Supported lengths of geohashes, ascending. */
    precisions: setting(configuration.DENSITY_PRECISIONS, configured),
    /** K: cells with fewer people who were really counted are suppressed. */
    threshold: setting(configuration.DENSITY_K, configured),
  };
}
