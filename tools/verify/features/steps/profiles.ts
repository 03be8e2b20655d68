import { randomUUID } from "node:crypto";
import { CannotRun, expectThat, inPlan } from "../ending.ts";
import { valuesAt } from "../property-path.ts";
import type { World } from "../world.ts";
import type { Step } from "./step.ts";

/** Which QoS profile the request is about. */
export const profileSteps: readonly Step[] = [
  {
    pattern: /^an existing QoS profile$/,
    run: (world) => void existing(world),
  },
  {
    pattern:
      /^the path param(?:eter)? "name" is set (?:by default to an existing QoS profile name|to the value for that QoS profile)$/,
    run: (world) => {
      world.pathParameters.name = existing(world);
    },
  },
  {
    pattern: /^path parameter "name" does not match the regular expression "(.+)"$/,
    run: (world, pattern = "") => useName(world, "not a name!", (name) => !new RegExp(pattern).test(name)),
  },
  {
    pattern: /^path parameter "name" has a length not between (\d+) and (\d+)$/,
    run: (world, _, most) =>
      useName(world, "x".repeat(Number(most) + 1), (name) => name.length > Number(most)),
  },
  {
    pattern: /^the path parameter "name" is set to a random string compliant with the pattern$/,
    run: (world) => useName(world, randomUUID(), (name) => name !== existing(world)),
  },
  {
    pattern: /^the request body property "(\$\.name)" is set to an existing QoS profile name$/,
    run: (world, path = "") => world.setProperty(path, existing(world)),
  },
  {
    pattern: /^that implementation has QoS Profiles restricted to certain devices$/,
    run: (world) => void restricted(world),
  },
  {
    pattern: /^the restricted QoS Profiles are returned in the response$/,
    run: (world) => {
      const names = valuesAt(world.sentAnswer.body, "$[*].name");
      expectThat(
        restricted(world).every((name) => names.includes(name)),
        "a restricted QoS profile is not in the response",
      );
    },
  },
  {
    pattern: /^no restricted QoS Profile is included in the response$/,
    run: (world) => {
      const names = valuesAt(world.sentAnswer.body, "$[*].name");
      expectThat(!names.includes(undefined), "the response is no list of QoS profiles with names");
      expectThat(
        !restricted(world).some((name) => names.includes(name)),
        "a restricted QoS profile is in the response",
      );
    },
  },
];

function existing({ plan }: World): string {
  return inPlan(plan.qosProfiles.existing, "qosProfiles.existing");
}

function restricted({ plan }: World): readonly string[] {
  const { restricted } = plan.qosProfiles;
  if (restricted.length === 0) throw new CannotRun("the plan has no qosProfiles.restricted");
  return restricted;
}

function useName(world: World, name: string, isAsAsked: (name: string) => boolean): void {
  if (!isAsAsked(name)) throw new CannotRun("no name is known that is as the step asks");
  world.pathParameters.name = name;
}
