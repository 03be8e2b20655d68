import type { CountedDay } from "../../privacy/counted.ts";
import { type Coverage, type Division, divide, type Part } from "../../privacy/parts.ts";
import { PartCoverages } from "../store/coverage-store.ts";

/** How the days of an import are divided: days with the same parts alike, and once. */
export class Divisions {
  readonly coverages = new PartCoverages();
  #coverage: Coverage | undefined;
  /** Divisions of that coverage by the ids of the parts. */
  readonly #divided = new Map<string, Division>();

  /** As `divide`. @param parts of the same precision. */
  of({ coverage, precision }: Pick<CountedDay, "coverage" | "precision">, parts: readonly Part[]): Division {
    if (coverage !== this.#coverage) this.#divided.clear();
    this.#coverage = coverage;
    const ids = parts.map(({ id }) => id).join();
    const division = this.#divided.get(ids) ?? divide(coverage, precision, parts);
    this.#divided.set(ids, division);
    return division;
  }
}
