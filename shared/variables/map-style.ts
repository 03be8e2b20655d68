import { isHttpsOrLocal } from "../environment.ts";
import type { Format } from "./format.ts";

/** The console's map: a MapLibre style or a PMTiles archive. By default it shows outlines of countries. */
export const MAP_STYLE = {
  name: "MAP_STYLE",
  default: "",
  /** The console's content security policy allows the origin of this address, so it must have one. */
  format: (): Format<string> => ({
    read: (value) =>
      value === "" || (/^[^\s;,'"]+$/.test(value) && isHttpsOrLocal(value)) ? value : undefined,
    must: "be empty or the https URL of a MapLibre style or of a .pmtiles archive",
  }),
};
