import { oneOf } from "./format.ts";

/** The least severe level that is logged. */
export const LOG_LEVEL = {
  name: "LOG_LEVEL",
  default: "INFO",
  format: () => oneOf("DEBUG", "INFO", "WARN", "ERROR"),
};
