import { randomUUID } from "node:crypto";
import { inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import { hoursFromNow } from "./request.ts";
import { fromPlan, on, type Step, setsProperty } from "./step.ts";

const area = (where: string) =>
  new RegExp(
    `^the request body property "(\\$\\.area)" is set to a valid testing area ${where} supported regions$`,
  );

/** The area, the period and the sink of a density request. */
export const densitySteps: readonly Step[] = [
  fromPlan(area("within"), "densities.supported"),
  fromPlan(area("partially within"), "densities.partial"),
  fromPlan(area("outside"), "densities.unsupported"),
  on(
    /^the request body properties "\$\.startTime" and "\$\.endTime" are valid (future|past) date-times, with "\$\.endTime" later than "\$\.startTime"$/,
    (world, when) => usePeriod(world, when === "past" ? -48 : 24, 1),
  ),
  fromPlan(
    /^the request body property "(\$\.precision)" is set to a valid precision for the geohash response cells$/,
    "densities.precision",
  ),
  fromPlan(
    /^the request body property "(\$\.precision)" is set to a valid but not supported value$/,
    "densities.unsupportedPrecision",
  ),
  setsProperty(
    /^the request body property "(\$.+Time)" is not set to a valid RFC-3339 date-time$/,
    () => "tomorrow at noon",
  ),
  setsProperty(
    /^the request body property "(\$\.area\.boundary)" is set to an array of coordinates that does not form a polygon$/,
    () => [0, 0.01, 0.02].map((step) => ({ latitude: 45 + step, longitude: 4 + step })),
  ),
  fromPlan(
    /^the request body property "\$\.area\.boundary" is set to an array of coordinates that form a too complex area$/,
    "densities.tooComplex",
    "$.area",
  ),
  on(
    /^the request body property "\$\.startTime" is set to a date-time (earlier|later) than the (?:minimum|maximum) allowed$/,
    (world, which) => {
      const { tooEarlyDays, tooLateDays } = world.plan.densities;
      const days =
        which === "earlier"
          ? -inPlan(tooEarlyDays, "densities.tooEarlyDays")
          : inPlan(tooLateDays, "densities.tooLateDays");
      usePeriod(world, 24 * days, 1);
    },
  ),
  on(
    /^the request body property "\$\.endTime" is set to a date-time earlier than request body property "\$\.startTime"$/,
    (world) => usePeriod(world, 24, -1),
  ),
  setsProperty(
    /^the request body property "(\$\.startTime)" is set to a valid testing future date-time$/,
    () => hoursFromNow(24),
  ),
  on(
    /^the request body property "\$\.endTime" is set to a future date-time that exceeds the supported duration from the start time\.$/,
    (world) => usePeriod(world, 24, inPlan(world.plan.densities.tooLongHours, "densities.tooLongHours")),
  ),
  setsProperty(
    /^the request body property "(\$.+Time)" is set to a date-time in the (past|future)$/,
    (_, when) => hoursFromNow(when === "past" ? -2 : 2),
  ),
  on(
    /^the request body properties "\$\.area\.boundary", "\$\.startTime", "\$\.endTime" and "\$\.precision" are set to valid values$/,
    (world) => {
      // The sentence is the same for both sizes: the scenario's title says which one is meant.
      const name = /sync and async/.test(world.scenario.title) ? "tooBig" : "tooBigForSync";
      const { boundary, hours, precision } = inPlan(world.plan.densities[name], `densities.${name}`);
      world.setProperty("$.area.boundary", boundary);
      world.setProperty("$.precision", precision);
      usePeriod(world, 24, hours);
    },
  ),
  setsProperty(
    /^the request body property "(\$\.sink)" is set to a valid HTTPS URL$/,
    ({ surroundings, failingStatus, notes }) => {
      const sink = inPlan(surroundings.receiver, "receiver").newSink(failingStatus);
      if (!sink.startsWith("https:"))
        notes.push("the sink has http, as the plan gives no address with https");
      return sink;
    },
  ),
  setsProperty(
    /^the request body property "(\$\.sinkCredential)" is set to a valid credential with property "\$\.sinkCredential\.credentialType" set to "ACCESSTOKEN"$/,
    credential,
  ),
  setsProperty(
    /^the request body property "(\$\.sinkCredential\.credentialType)" is not set to "ACCESSTOKEN"$/,
    () => "PLAIN",
  ),
  on(
    /^the request body property "(\$\.sinkCredential\.accessTokenType)" is set to a value other than "bearer"$/,
    (world, path = "") => {
      world.setProperty("$.sinkCredential", credential());
      world.setProperty(path, "mac");
    },
  ),
  setsProperty(/^the request body property "(\$\.sink)" is not set to an url$/, () => "not an url"),
];

function usePeriod(world: World, startHours: number, hours: number): void {
  world.setProperty("$.startTime", hoursFromNow(startHours));
  world.setProperty("$.endTime", hoursFromNow(startHours + hours));
}

function credential() {
  return {
    credentialType: "ACCESSTOKEN",
    accessToken: randomUUID(),
    accessTokenExpiresUtc: hoursFromNow(24),
    accessTokenType: "bearer",
  };
}
