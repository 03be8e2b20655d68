import { expect, test } from "vitest";
import { kernelsOf } from "../../tools/import/density/city-kernels.ts";
import type { Place } from "../../tools/import/density/drawn-city.ts";

test("the model of a city is refused with the name of a place that has nothing but water around it", () => {
  const pier: Place = { name: "Pier", at: [4.8, 45.7], radius: 100, weight: 1 };
  const [metresOf, water] = [() => [0, 0] as const, () => 0];

  expect(() => kernelsOf([pier], 1_000, metresOf, water)).toThrow("Pier: nobody can be there");
});
