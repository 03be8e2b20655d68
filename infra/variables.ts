import type * as configuration from "./configuration.ts";

/** Every variable that an operator may change, by its name. */
export * as configuration from "./configuration.ts";

/** The name of a variable that an operator may change. */
export type ConfigurationName = keyof typeof configuration;

/** The name of a function's environment variable, other than those of tables and queues. */
export type VariableName =
  | ConfigurationName
  // The stack sets these, not the operator.
  | "CORS_ORIGINS"
  | "MAX_WORKERS"
  | "ROUTES_BY_SCOPE"
  | "SANDBOX"
  | "SIGNING_KEY_SECRET_ARN";
