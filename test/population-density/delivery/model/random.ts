import { seeded } from "../../../support/random.ts";

/** What chance decides in a run; everything follows from the seed. */
export class Chance {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[Math.floor(this.random() * choices.length)] as Choice;
  }

  happens(probability: number): boolean {
    return this.random() < probability;
  }
}
