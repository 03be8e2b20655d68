import { expectThat } from "../ending.ts";
import type { World } from "../world.ts";
import { present } from "./answer.ts";
import type { Step } from "./step.ts";

/** Pseudonyms of devices. */
export const pseudonymSteps: readonly Step[] = [
  {
    pattern: /^the response property "(\$.+)" exists and is equal to (PPID\d)$/,
    run: (world, path = "", name = "") => requirePseudonym(world, present(world.sentAnswer.body, path), name),
  },
];

/**
 * The pseudonym of a device for a client. Where the plan has none, as it is the implementation's secret, it must be the
 * one that the client got first, and that of no other device.
 */
function requirePseudonym(
  { plan, caller = "", surroundings: { learned }, notes }: World,
  value: unknown,
  name: string,
) {
  const planned = plan.equipment[name.replace("PPID", "DEVICE")]?.ppid;
  if (planned !== undefined) return expectThat(value === planned, `the pseudonym is not ${name}`);
  const from = plan.callers[caller]?.from;
  const client = from !== undefined && "client" in from ? from.client.clientId : caller;
  const key = `${client} ${name}`;
  const others = [...learned].filter(([other]) => other.startsWith(`${client} `) && other !== key);
  expectThat(
    others.every(([, pseudonym]) => pseudonym !== value),
    `the pseudonym of another device is ${name} too`,
  );
  if (!learned.has(key)) notes.push(`${name} is what is answered here first`);
  expectThat((learned.get(key) ?? value) === value, `the pseudonym is not the ${name} of before`);
  learned.set(key, value);
}
