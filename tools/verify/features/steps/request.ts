import { randomUUID } from "node:crypto";
import { hourMilliseconds } from "../../../../shared/calendar.ts";
import { CannotRun, inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import { on, type Step, setsProperty } from "./step.ts";

/** Where the request goes, its headers and its body, for any API. */
export const requestSteps: readonly Step[] = [
  on(/^an environment at "apiRoot"$/, ({ surroundings: { url } }) => {
    if (!URL.canParse(url)) throw new CannotRun(`${url} is no address`);
  }),
  on(/^the resource "(.+)"$/, (world, path = "") => world.useResource(path)),
  on(/^the header "x-correlator" complies with the schema at "(.+)"$/, (world, pointer = "") => {
    const correlator = randomUUID();
    world.requireCompliant(correlator, pointer, "the correlator");
    world.headers.set("x-correlator", correlator);
  }),
  on(/^the header "(Content-Type|Accept)" is set to "(.+)"$/, ({ headers }, name = "", value = "") =>
    headers.set(name, value),
  ),
  on(/^the header "(.+)" is (?:not sent|removed)$/, (world, name = "") => {
    if (name === "Authorization") world.caller = undefined;
    world.headers.delete(name);
  }),
  on(
    /^(?:the request body is set by default to )?a request body compliant with the schema(?: at "(.+)")?$/,
    useUsualBody,
  ),
  on(/^the request body is compliant with the \w+ schema defined by "(.+)"$/, useUsualBody),
  on(/^the request body is set to a valid request body$/, useUsualBody),
  on(/^the request body is not included$/, (world) => {
    world.body = undefined;
  }),
  on(/^the request body is set to "(\{.*\})"$/, (world, text = "") => {
    world.body = JSON.parse(text);
  }),
  on(
    /^the request body is set to any value which is not compliant with the (?:OAS )?schema at "(.+)"$/,
    (world, pointer = "") => {
      world.body = world.resource.definition.refusedBy(pointer);
    },
  ),
  setsProperty(
    /^the request body property "(\$.+)" does not comply with the OAS schema at "(.+)"$/,
    ({ resource }, pointer = "") => resource.definition.refusedBy(pointer),
  ),
  setsProperty(/^the request body property "(\$.+)" is not included$/, () => undefined),
  on(/^the request body properties "(\$.+)" and "(\$.+)" are not included$/, (world, ...paths) => {
    for (const path of paths) world.setProperty(path, undefined);
  }),
  setsProperty(/^request property "(\$.+)" does not exist$/, () => undefined),
  setsProperty(/^the request body property "(\$.+)" is set to: (\{.*\})$/, (_, text = "") =>
    JSON.parse(text),
  ),
  setsProperty(/^the request body property "(\$.+)" is set to the value (\S+)$/, (_, value) => value),
  setsProperty(
    /^the request body is set to a valid parameter combination with property "(\$.+)" set to "(.+)"$/,
    (_, value) => value,
  ),
  setsProperty(
    /^the request body property "(\$.+)" is not set to a number between \d+ and (\d+)$/,
    (_, most) => Number(most) + 1,
  ),
  on(/^the request "(\w+)" is sent$/, async (world, id) => {
    if (id !== world.resource.operation.id) throw new CannotRun(`the resource has no operation ${id}`);
    await world.send();
  }),
  on(/^the HTTPS? "([A-Z]+)" request is sent$/, async (world, method) => {
    if (method !== world.resource.operation.method) throw new CannotRun(`the resource has no ${method}`);
    await world.send();
  }),
];

/** What the plan sends unless a scenario says otherwise. @throws {CannotRun} if it is not as the definition says. */
function useUsualBody(world: World, pointer?: string): void {
  const { operation, definition } = world.resource;
  if (operation.body === undefined) {
    world.body = undefined;
    return;
  }
  const planned = inPlan(world.plan.bodies[operation.id], `bodies.${operation.id}`);
  const tomorrow = { startTime: hoursFromNow(24), endTime: hoursFromNow(25) };
  world.body = { ...("startTime" in definition.membersOf(operation.body) ? tomorrow : {}), ...planned };
  world.requireCompliant(world.body, pointer || operation.body, `bodies.${operation.id} of the plan`);
}

/** The start of an hour. */
export function hoursFromNow(hours: number): string {
  return new Date((Math.floor(Date.now() / hourMilliseconds) + hours) * hourMilliseconds).toISOString();
}
