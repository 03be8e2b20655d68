import * as z from "zod";
import { CannotRun, expectThat, Unexpected } from "../ending.ts";
import { isInArea } from "../geohash-in-area.ts";
import { valuesAt } from "../property-path.ts";
import { allPresent, present, timeOf } from "./answer.ts";
import { on, type Step } from "./step.ts";

const boundary = z.array(z.object({ latitude: z.number(), longitude: z.number() }));

/** What an answer with cells and hours has. */
export const cellSteps: readonly Step[] = [
  on(
    /^the response property "(\$.+)" is equal to or (later|earlier) than request body property "(\$.+)"$/,
    (world, path = "", which, sent = "") => {
      const limit = timeOf(world.sentValue(sent), sent);
      for (const value of allPresent(world.sentAnswer.body, path)) {
        const later = timeOf(value, path) - limit;
        expectThat(which === "later" ? later >= 0 : later <= 0, `${path} is not equal to or ${which}`);
      }
    },
  ),
  on(/^the response property "(\$.+)" is a valid Geohash inside the request area$/, (world, path = "") => {
    const area = boundary.safeParse(world.sentValue("$.area.boundary"));
    if (!area.success) throw new CannotRun("the request has no area with a boundary");
    for (const value of allPresent(world.sentAnswer.body, path)) {
      expectThat(isInArea(value, area.data), `${path} is no geohash inside the area`);
    }
  }),
  on(
    /^the response property "(\$.+)" items with property "(\w+)" == "?(\w+)"? have property "(\w+)"$/,
    ({ sentAnswer }, path = "", name = "", wanted, expected = "") => {
      const isWanted = (item: unknown) => valuesAt(item, `$.${name}`)[0] === wanted;
      const items = valuesAt(sentAnswer.body, path).filter(isWanted);
      if (items.length === 0) throw new Unexpected(`no item of ${path} has the ${name} ${wanted}`);
      for (const item of items) present(item, `$.${expected}`);
    },
  ),
  on(
    /^there is at least one item in response property "(\$.+)" equal to "(\w+)"(?: or "(\w+)")?$/,
    ({ sentAnswer }, path = "", ...groups) => {
      const wanted: readonly unknown[] = groups.filter((group) => group !== "");
      const isThere = valuesAt(sentAnswer.body, path).some((value) => wanted.includes(value));
      expectThat(isThere, `no ${path} is ${wanted.join(" or ")}`);
    },
  ),
];
