import * as z from "zod";
import { readJsonAs } from "../../json-file.ts";
import { sharesIn } from "../city-week.ts";

/** Which share of those who live somewhere is there at an instant. */
export type Curve = (instant: Date) => number;

/** The curves that are no files. */
export const namedCurves: readonly string[] = ["flat", "residential"];

const share = z.number().min(0).max(10);

const curveFile = z
  .array(share)
  .refine(({ length }) => length === 24 || length === 168, "must have 24 numbers, or 168 from Monday on");

/**
 * A curve by its name, or that of a file: a JSON array of 24 numbers by UTC hour, or of 168 from Monday on.
 * `flat` has everybody at home in every hour, `residential` as many as the demo city has by hour and weekday.
 * @throws {ImportError} for a file of another form.
 */
export async function curveOf(name: string): Promise<Curve> {
  if (name === "flat") return () => 1;
  if (name === "residential") {
    const shareOf = sharesIn("UTC");
    return (instant) => shareOf("home", instant);
  }
  const shares = await readJsonAs(curveFile, name);
  return (instant) => {
    const fromMonday = (instant.getUTCDay() + 6) % 7;
    const hour = shares.length === 24 ? instant.getUTCHours() : 24 * fromMonday + instant.getUTCHours();
    return shares[hour] ?? Number.NaN;
  };
}
