import type { Format } from "./format.ts";

/** `on` where the demo's city is what is covered, so that the page may show a picture of it. Only a local run sets it. */
export const DEMO_CITY = {
  name: "DEMO_CITY",
  format: (): Format<boolean> => ({
    read: (text) => (text === "" || text === "on" ? text === "on" : undefined),
    must: "be empty or on",
  }),
};
