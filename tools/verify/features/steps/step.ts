import { inPlan } from "../ending.ts";
import type { Plan } from "../plan.ts";
import type { World } from "../world.ts";

/** What a sentence of feature files means. */
export interface Step {
  readonly pattern: RegExp;
  /** Takes the groups of the pattern, `""` for one that is not there. */
  readonly run: (world: World, ...groups: readonly string[]) => void | Promise<void>;
  /** Runs before all steps of a scenario that has the sentence, for what must be so before the request is sent. */
  readonly arrange?: (world: World) => void;
}

/** A step as a line of a table. */
export function on(pattern: RegExp, run: Step["run"], arrange?: Step["arrange"]): Step {
  return { pattern, run, ...(arrange === undefined ? {} : { arrange }) };
}

type Members<Group extends "densities" | "devices" | "phoneNumbers"> =
  `${Group}.${keyof Plan[Group] & string}`;

/** What scenarios may need, such as `devices.unknown`. */
type PlanMember = Members<"densities"> | Members<"devices"> | Members<"phoneNumbers">;

/** @throws {CannotRun} naming the member if the plan lacks it. */
function planned({ plan }: World, member: PlanMember): unknown {
  const [group, name] = member.split(".") as [keyof Plan, string];
  return inPlan((plan[group] as Readonly<Record<string, unknown>>)[name], member);
}

/** Sets a property of the body to what the plan has. @param path the first group of the pattern if absent. */
export function fromPlan(pattern: RegExp, member: PlanMember, path?: string): Step {
  return on(pattern, (world, group = "") => world.setProperty(path ?? group, planned(world, member)));
}

/** Only requires that the plan has something, which a later sentence is about. */
export function needsInPlan(pattern: RegExp, member: PlanMember): Step {
  return on(pattern, (world) => void planned(world, member));
}

/** Sets the property that the first group of the pattern names. */
export function setsProperty(pattern: RegExp, made: (world: World, ...groups: readonly string[]) => unknown) {
  return on(pattern, (world, path = "", ...groups) => world.setProperty(path, made(world, ...groups)));
}
