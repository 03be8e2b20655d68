import { inPlan } from "../ending.ts";
import type { World } from "../world.ts";
import { fromPlan, needsInPlan, on, type Step, setsProperty } from "./step.ts";

const linked = ({ plan }: World) => inPlan(plan.phoneNumbers.linked, "phoneNumbers.linked");
const recycled = ({ plan }: World) => inPlan(plan.phoneNumbers.recycled, "phoneNumbers.recycled");

/** Which phone number the request is about, and since when. */
export const numberSteps: readonly Step[] = [
  on(
    /^a valid (?:testing )?phone number supported by the service, identified by the access token or provided in the request body$/,
    (world) => world.setProperty("$.phoneNumber", linked(world).phoneNumber),
  ),
  on(/^the same phone number was cancelled by the User A and is used by User B$/, (world) =>
    world.setProperty("$.phoneNumber", recycled(world).phoneNumber),
  ),
  setsProperty(
    /^the request body property "(\$.+)" is set to a date on which the user signed contracts with Service Provider$/,
    (world) => linked(world).signed,
  ),
  setsProperty(
    /^the request body property "(\$.+)" is set to a date on which the User A signed contracts with Service Provider$/,
    (world) => recycled(world).signed,
  ),
  setsProperty(/^the request body property "(\$\.specifiedDate)" is set to a value in the future$/, () =>
    new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10),
  ),
  setsProperty(
    /^the request body property "(\$\.phoneNumber)" is set to a valid phone number$/,
    (world) => linked(world).phoneNumber,
  ),
  needsInPlan(
    /^that the service is not available for all phone numbers commercialized by the operator$/,
    "phoneNumbers.notApplicable",
  ),
  fromPlan(
    /^a valid phone number, identified by the token or provided in the request body, for which the service is not applicable$/,
    "phoneNumbers.notApplicable",
    "$.phoneNumber",
  ),
];
