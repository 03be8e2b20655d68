import { randomUUID } from "node:crypto";
import { CannotRun, expectThat, inPlan } from "../ending.ts";
import { valuesAt } from "../property-path.ts";
import type { World } from "../world.ts";
import { on, type Step, setsProperty } from "./step.ts";

/** Which QoS profile the request is about. */
export const profileSteps: readonly Step[] = [
  on(/^an existing QoS profile$/, (world) => void existing(world)),
  on(
    /^the path param(?:eter)? "name" is set (?:by default to an existing QoS profile name|to the value for that QoS profile)$/,
    (world) => useName(world, existing(world)),
  ),
  on(/^path parameter "name" does not match the regular expression "(.+)"$/, (world, pattern = "") =>
    useName(world, "not a name!", (name) => !new RegExp(pattern).test(name)),
  ),
  on(/^path parameter "name" has a length not between \d+ and (\d+)$/, (world, most) =>
    useName(world, "x".repeat(Number(most) + 1)),
  ),
  on(/^the path parameter "name" is set to a random string compliant with the pattern$/, (world) =>
    useName(world, randomUUID()),
  ),
  setsProperty(/^the request body property "(\$\.name)" is set to an existing QoS profile name$/, existing),
  on(
    /^that implementation has QoS Profiles restricted to certain devices$/,
    (world) => void restricted(world),
  ),
  on(/^the restricted QoS Profiles are returned in the response$/, (world) => {
    const names = valuesAt(world.sentAnswer.body, "$[*].name");
    const isThere = restricted(world).every((name) => names.includes(name));
    expectThat(isThere, "a restricted QoS profile is not in the response");
  }),
  on(/^no restricted QoS Profile is included in the response$/, (world) => {
    const names = valuesAt(world.sentAnswer.body, "$[*].name");
    expectThat(!names.includes(undefined), "the response is no list of QoS profiles with names");
    const isThere = restricted(world).some((name) => names.includes(name));
    expectThat(!isThere, "a restricted QoS profile is in the response");
  }),
];

function existing({ plan }: World): string {
  return inPlan(plan.qosProfiles.existing, "qosProfiles.existing");
}

function restricted({ plan }: World): readonly string[] {
  const { restricted } = plan.qosProfiles;
  if (restricted.length === 0) throw new CannotRun("the plan has no qosProfiles.restricted");
  return restricted;
}

function useName(world: World, name: string, isAsAsked = (_: string) => true): void {
  if (!isAsAsked(name)) throw new CannotRun("no name is known that is as the step asks");
  world.pathParameters.name = name;
}
