import * as z from "zod/mini";
import { json } from "./format.ts";

/** The routes of each scope, derived from the endpoints. */
export const ROUTES_BY_SCOPE = {
  name: "ROUTES_BY_SCOPE",
  format: () =>
    json(z.record(z.string(), z.array(z.string())), "be a JSON object with a list of routes for each scope"),
};
