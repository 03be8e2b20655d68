/**
 * Every variable that an operator may change, and nothing else. No function has this list, so that a new variable
 * releases only the functions that read it.
 */
export { ACCESS_RECORD_DAYS } from "../shared/variables/access-record-days.ts";
export { CACHE_SECONDS } from "../shared/variables/cache-seconds.ts";
export { DAILY_QUOTA } from "../shared/variables/daily-quota.ts";
export { DENSITY_ASYNC_LIMIT } from "../shared/variables/density-async-limit.ts";
export { DENSITY_K } from "../shared/variables/density-k.ts";
export { DENSITY_PENDING_LIMIT } from "../shared/variables/density-pending-limit.ts";
export { DENSITY_PRECISIONS } from "../shared/variables/density-precisions.ts";
export { DENSITY_SYNC_LIMIT } from "../shared/variables/density-sync-limit.ts";
export { LOG_LEVEL } from "../shared/variables/log-level.ts";
export { LOGIN_LIMIT_PER_ACCOUNT } from "../shared/variables/login-limit-per-account.ts";
export { LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE } from "../shared/variables/login-limit-per-account-and-source.ts";
export { LOGIN_LIMIT_PER_SOURCE } from "../shared/variables/login-limit-per-source.ts";
export { MAP_STYLE } from "../shared/variables/map-style.ts";
export { RATE_LIMIT_PER_MINUTE } from "../shared/variables/rate-limit-per-minute.ts";
export { SINK_ALLOWED_NETWORKS } from "../shared/variables/sink-allowed-networks.ts";
export { SINK_RETRY_SECONDS } from "../shared/variables/sink-retry-seconds.ts";
export { TOKEN_AUDIENCE } from "../shared/variables/token-audience.ts";
export { TOKEN_ENDPOINT } from "../shared/variables/token-endpoint.ts";
export { TOKEN_ISSUER } from "../shared/variables/token-issuer.ts";
export { TOKEN_LIFETIME_SECONDS } from "../shared/variables/token-lifetime-seconds.ts";
export { TRUSTED_ISSUERS } from "../shared/variables/trusted-issuers.ts";
