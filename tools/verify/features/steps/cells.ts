import * as z from "zod";
import { CannotRun, expectThat, Unexpected } from "../ending.ts";
import { isInArea } from "../geohash-in-area.ts";
import { valuesAt } from "../property-path.ts";
import { present, timeOf } from "./answer.ts";
import type { Step } from "./step.ts";

const boundary = z.array(z.object({ latitude: z.number(), longitude: z.number() }));

/** What an answer with cells and hours has. */
export const cellSteps: readonly Step[] = [
  {
    pattern:
      /^the response property "(\$.+)" is equal to or (later|earlier) than request body property "(\$.+)"$/,
    run: (world, path = "", which, sent = "") => {
      const limit = timeOf(world.sentValue(sent), sent);
      present(world.sentAnswer.body, path);
      for (const value of valuesAt(world.sentAnswer.body, path)) {
        const difference = timeOf(value, path) - limit;
        expectThat(
          which === "later" ? difference >= 0 : difference <= 0,
          `${path} is not equal to or ${which}`,
        );
      }
    },
  },
  {
    pattern: /^the response property "(\$.+)" is a valid Geohash inside the request area$/,
    run: (world, path = "") => {
      const area = boundary.safeParse(world.sentValue("$.area.boundary"));
      if (!area.success) throw new CannotRun("the request has no area with a boundary");
      present(world.sentAnswer.body, path);
      for (const value of valuesAt(world.sentAnswer.body, path)) {
        expectThat(isInArea(value, area.data), `${path} is no geohash inside the area`);
      }
    },
  },
  {
    pattern:
      /^the response property "(\$.+)" items with property "(\w+)" == "?(\w+)"? have property "(\w+)"$/,
    run: ({ sentAnswer }, path = "", name = "", wanted, expected = "") => {
      const items = valuesAt(sentAnswer.body, path).filter(
        (item) => valuesAt(item, `$.${name}`)[0] === wanted,
      );
      if (items.length === 0) throw new Unexpected(`no item of ${path} has the ${name} ${wanted}`);
      for (const item of items) present(item, `$.${expected}`);
    },
  },
  {
    pattern: /^there is at least one item in response property "(\$.+)" equal to "(\w+)"(?: or "(\w+)")?$/,
    run: ({ sentAnswer }, path = "", ...wanted) => {
      const values = valuesAt(sentAnswer.body, path);
      const found = values.some(
        (value) => typeof value === "string" && value !== "" && wanted.includes(value),
      );
      expectThat(found, `no ${path} is ${wanted.filter((one) => one !== "").join(" or ")}`);
    },
  },
];
