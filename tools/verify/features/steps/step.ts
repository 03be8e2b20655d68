import type { World } from "../world.ts";

/** What a sentence of feature files means. */
export interface Step {
  readonly pattern: RegExp;
  /**
   * Runs before all steps of a scenario that has the sentence, to arrange what must be so before the request is sent.
   */
  readonly arrange?: (world: World) => void;
  /** Takes the groups of the pattern, `""` for one that is not there. */
  readonly run: (world: World, ...groups: readonly string[]) => void | Promise<void>;
}
