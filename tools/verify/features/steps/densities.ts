import { randomUUID } from "node:crypto";
import { inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import { hoursFromNow } from "./request.ts";
import type { Step } from "./step.ts";

const areas: Readonly<Record<string, "supported" | "partial" | "unsupported">> = {
  within: "supported",
  "partially within": "partial",
  outside: "unsupported",
};

/** The area, the period and the sink of a density request. */
export const densitySteps: readonly Step[] = [
  {
    pattern:
      /^the request body property "(\$\.area)" is set to a valid testing area (within|partially within|outside) supported regions$/,
    run: (world, path = "", where = "") => {
      const name = areas[where] ?? "supported";
      world.setProperty(path, inPlan(world.plan.densities[name], `densities.${name}`));
    },
  },
  {
    pattern:
      /^the request body properties "\$\.startTime" and "\$\.endTime" are valid (future|past) date-times, with "\$\.endTime" later than "\$\.startTime"$/,
    run: (world, when) => usePeriod(world, when === "past" ? -48 : 24, 1),
  },
  {
    pattern:
      /^the request body property "(\$\.precision)" is set to a valid precision for the geohash response cells$/,
    run: (world, path = "") =>
      world.setProperty(path, inPlan(world.plan.densities.precision, "densities.precision")),
  },
  {
    pattern: /^the request body property "(\$\.precision)" is set to a valid but not supported value$/,
    run: (world, path = "") =>
      world.setProperty(
        path,
        inPlan(world.plan.densities.unsupportedPrecision, "densities.unsupportedPrecision"),
      ),
  },
  {
    pattern: /^the request body property "(\$.+Time)" is not set to a valid RFC-3339 date-time$/,
    run: (world, path = "") => world.setProperty(path, "tomorrow at noon"),
  },
  {
    pattern:
      /^the request body property "\$\.area\.boundary" is set to an array of coordinates that does not form a polygon$/,
    run: (world) => {
      const points = [0, 0.01, 0.02].map((step) => ({ latitude: 45 + step, longitude: 4 + step }));
      world.setProperty("$.area.boundary", points);
    },
  },
  {
    pattern:
      /^the request body property "\$\.area\.boundary" is set to an array of coordinates that form a too complex area$/,
    run: (world) =>
      world.setProperty("$.area", inPlan(world.plan.densities.tooComplex, "densities.tooComplex")),
  },
  {
    pattern:
      /^the request body property "\$\.startTime" is set to a date-time (earlier|later) than the (?:minimum|maximum) allowed$/,
    run: (world, which) => {
      const { tooEarlyDays, tooLateDays } = world.plan.densities;
      const days =
        which === "earlier"
          ? -inPlan(tooEarlyDays, "densities.tooEarlyDays")
          : inPlan(tooLateDays, "densities.tooLateDays");
      usePeriod(world, 24 * days, 1);
    },
  },
  {
    pattern:
      /^the request body property "\$\.endTime" is set to a date-time earlier than request body property "\$\.startTime"$/,
    run: (world) => usePeriod(world, 24, -1),
  },
  {
    pattern: /^the request body property "(\$\.startTime)" is set to a valid testing future date-time$/,
    run: (world, path = "") => world.setProperty(path, hoursFromNow(24)),
  },
  {
    pattern:
      /^the request body property "\$\.endTime" is set to a future date-time that exceeds the supported duration from the start time\.$/,
    run: (world) => usePeriod(world, 24, inPlan(world.plan.densities.tooLongHours, "densities.tooLongHours")),
  },
  {
    pattern: /^the request body property "(\$.+Time)" is set to a date-time in the (past|future)$/,
    run: (world, path = "", when) => world.setProperty(path, hoursFromNow(when === "past" ? -2 : 2)),
  },
  {
    pattern:
      /^the request body properties "\$\.area\.boundary", "\$\.startTime", "\$\.endTime" and "\$\.precision" are set to valid values$/,
    run: (world) => {
      // The sentence is the same for both sizes: the scenario's title says which one is meant.
      const name = /sync and async/.test(world.scenario.title) ? "tooBig" : "tooBigForSync";
      const { boundary, hours, precision } = inPlan(world.plan.densities[name], `densities.${name}`);
      world.setProperty("$.area.boundary", boundary);
      world.setProperty("$.precision", precision);
      usePeriod(world, 24, hours);
    },
  },
  {
    pattern: /^the request body property "(\$\.sink)" is set to a valid HTTPS URL$/,
    run: (world, path = "") => {
      const { receiver } = world.surroundings;
      const sink = inPlan(receiver, "receiver").newSink(world.failingStatus);
      if (!sink.startsWith("https:"))
        world.notes.push("the sink has http, as the plan gives no address with https");
      world.setProperty(path, sink);
    },
  },
  {
    pattern:
      /^the request body property "(\$\.sinkCredential)" is set to a valid credential with property "\$\.sinkCredential\.credentialType" set to "ACCESSTOKEN"$/,
    run: (world, path = "") => world.setProperty(path, credential()),
  },
  {
    pattern: /^the request body property "(\$\.sinkCredential\.credentialType)" is not set to "ACCESSTOKEN"$/,
    run: (world, path = "") => world.setProperty(path, "PLAIN"),
  },
  {
    pattern:
      /^the request body property "(\$\.sinkCredential\.accessTokenType)" is set to a value other than "bearer"$/,
    run: (world, path = "") => {
      world.setProperty("$.sinkCredential", credential());
      world.setProperty(path, "mac");
    },
  },
  {
    pattern: /^the request body property "(\$\.sink)" is not set to an url$/,
    run: (world, path = "") => world.setProperty(path, "not an url"),
  },
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
