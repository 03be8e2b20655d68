import { area } from "../../shared/area.ts";
import { checkNumberRecycling } from "./contract.ts";
import { numberAssignments } from "./tables.ts";

/** Whether a phone number has changed hands. */
export const numberRecyclingArea = area({
  name: "number-recycling",
  title: "Number Recycling",
  about: "Whether a phone number has changed hands.",
  endpoints: [checkNumberRecycling],
  scopes: { "number-recycling:check": "Check whether a phone number changed hands." },
  tables: [numberAssignments],
});
