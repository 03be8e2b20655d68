import { type ConfigurationName, configuration } from "../../infra/variables.ts";

/** Every configuration variable with its default, as the stack sets them. */
export const defaultSettings = Object.fromEntries(
  Object.entries(configuration).map(([name, { default: value }]) => [name, value]),
) as Record<ConfigurationName, string>;
