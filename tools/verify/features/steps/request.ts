import { randomUUID } from "node:crypto";
import { CannotRun, inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import type { Step } from "./step.ts";

/** Where the request goes, its headers and its body, for any API. */
export const requestSteps: readonly Step[] = [
  {
    pattern: /^an environment at "apiRoot"$/,
    run: ({ surroundings: { url } }) => {
      if (!URL.canParse(url)) throw new CannotRun(`${url} is no address`);
    },
  },
  { pattern: /^the resource "(.+)"$/, run: (world, path) => world.useResource(path ?? "") },
  {
    pattern: /^the header "x-correlator" complies with the schema at "(.+)"$/,
    run: (world, pointer = "") => {
      const correlator = randomUUID();
      world.requireCompliant(correlator, pointer, "the correlator");
      world.headers.set("x-correlator", correlator);
    },
  },
  {
    pattern: /^the header "(Content-Type|Accept)" is set to "(.+)"$/,
    run: ({ headers }, name = "", value = "") => headers.set(name, value),
  },
  {
    pattern: /^the header "(.+)" is (?:not sent|removed)$/,
    run: (world, name = "") => {
      if (name === "Authorization") world.caller = undefined;
      world.headers.delete(name);
    },
  },
  {
    pattern:
      /^(?:the request body is set by default to )?a request body compliant with the schema(?: at "(.+)")?$/,
    run: (world, pointer) => useUsualBody(world, pointer),
  },
  {
    pattern: /^the request body is compliant with the \w+ schema defined by "(.+)"$/,
    run: (world, pointer) => useUsualBody(world, pointer),
  },
  { pattern: /^the request body is set to a valid request body$/, run: (world) => useUsualBody(world) },
  {
    pattern: /^the request body is not included$/,
    run: (world) => {
      world.body = undefined;
    },
  },
  {
    pattern: /^the request body is set to "(\{.*\})"$/,
    run: (world, text = "") => {
      world.body = JSON.parse(text);
    },
  },
  {
    pattern:
      /^the request body is set to any value which is not compliant with the (?:OAS )?schema at "(.+)"$/,
    run: (world, pointer = "") => {
      world.body = world.resource.definition.refusedBy(pointer);
    },
  },
  {
    pattern: /^the request body property "(\$.+)" does not comply with the OAS schema at "(.+)"$/,
    run: (world, path = "", pointer = "") =>
      world.setProperty(path, world.resource.definition.refusedBy(pointer)),
  },
  {
    pattern: /^the request body property "(\$.+)" is not included$/,
    run: (world, path = "") => world.setProperty(path, undefined),
  },
  {
    pattern: /^the request body properties "(\$.+)" and "(\$.+)" are not included$/,
    run: (world, ...paths) => {
      for (const path of paths) world.setProperty(path, undefined);
    },
  },
  {
    pattern: /^request property "(\$.+)" does not exist$/,
    run: (world, path = "") => world.setProperty(path, undefined),
  },
  {
    pattern: /^the request body property "(\$.+)" is set to: (\{.*\})$/,
    run: (world, path = "", text = "") => world.setProperty(path, JSON.parse(text)),
  },
  {
    pattern: /^the request body property "(\$.+)" is set to the value (\S+)$/,
    run: (world, path = "", value = "") => world.setProperty(path, value),
  },
  {
    pattern:
      /^the request body is set to a valid parameter combination with property "(\$.+)" set to "(.+)"$/,
    run: (world, path = "", value = "") => world.setProperty(path, value),
  },
  {
    pattern: /^the request body property "(\$.+)" is not set to a number between \d+ and (\d+)$/,
    run: (world, path = "", most = "") => world.setProperty(path, Number(most) + 1),
  },
  {
    pattern: /^the request "(\w+)" is sent$/,
    run: async (world, id) => {
      if (id !== world.resource.operation.id) throw new CannotRun(`the resource has no operation ${id}`);
      await world.send();
    },
  },
  {
    pattern: /^the HTTPS? "([A-Z]+)" request is sent$/,
    run: async (world, method) => {
      if (method !== world.resource.operation.method) throw new CannotRun(`the resource has no ${method}`);
      await world.send();
    },
  },
];

/** What the plan sends unless a scenario says otherwise. @throws {CannotRun} if it is not as the definition says. */
function useUsualBody(world: World, pointer?: string): void {
  const { operation } = world.resource;
  if (operation.body === undefined) {
    world.body = undefined;
    return;
  }
  const planned = inPlan(world.plan.bodies[operation.id], `bodies.${operation.id}`);
  const period = "startTime" in world.resource.definition.membersOf(operation.body) ? tomorrow() : {};
  world.body = { ...period, ...planned };
  world.requireCompliant(world.body, pointer || operation.body, `bodies.${operation.id} of the plan`);
}

/** A whole hour a day from now. */
function tomorrow() {
  return { startTime: hoursFromNow(24), endTime: hoursFromNow(25) };
}

/** The start of an hour. */
export function hoursFromNow(hours: number): string {
  const milliseconds = 3_600_000;
  return new Date((Math.floor(Date.now() / milliseconds) + hours) * milliseconds).toISOString();
}
