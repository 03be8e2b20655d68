import { inPlan } from "../ending.ts";
import type { Step } from "./step.ts";

/** Which phone number the request is about, and since when. */
export const numberSteps: readonly Step[] = [
  {
    pattern:
      /^a valid (?:testing )?phone number supported by the service, identified by the access token or provided in the request body$/,
    run: (world) =>
      world.setProperty(
        "$.phoneNumber",
        inPlan(world.plan.phoneNumbers.linked, "phoneNumbers.linked").phoneNumber,
      ),
  },
  {
    pattern: /^the same phone number was cancelled by the User A and is used by User B$/,
    run: (world) => {
      const { phoneNumber } = inPlan(world.plan.phoneNumbers.recycled, "phoneNumbers.recycled");
      world.setProperty("$.phoneNumber", phoneNumber);
    },
  },
  {
    pattern:
      /^the request body property "(\$.+)" is set to a date on which the user signed contracts with Service Provider$/,
    run: (world, path = "") =>
      world.setProperty(path, inPlan(world.plan.phoneNumbers.linked, "phoneNumbers.linked").signed),
  },
  {
    pattern:
      /^the request body property "(\$.+)" is set to a date on which the User A signed contracts with Service Provider$/,
    run: (world, path = "") =>
      world.setProperty(path, inPlan(world.plan.phoneNumbers.recycled, "phoneNumbers.recycled").signed),
  },
  {
    pattern: /^the request body property "(\$\.specifiedDate)" is set to a value in the future$/,
    run: (world, path = "") => {
      const twoDays = 2 * 86_400_000;
      world.setProperty(path, new Date(Date.now() + twoDays).toISOString().slice(0, 10));
    },
  },
  {
    pattern: /^the request body property "(\$\.phoneNumber)" is set to a valid phone number$/,
    run: (world, path = "") =>
      world.setProperty(path, inPlan(world.plan.phoneNumbers.linked, "phoneNumbers.linked").phoneNumber),
  },
  {
    pattern: /^that the service is not available for all phone numbers commercialized by the operator$/,
    run: ({ plan }) => void inPlan(plan.phoneNumbers.notApplicable, "phoneNumbers.notApplicable"),
  },
  {
    pattern:
      /^a valid phone number, identified by the token or provided in the request body, for which the service is not applicable$/,
    run: (world) =>
      world.setProperty(
        "$.phoneNumber",
        inPlan(world.plan.phoneNumbers.notApplicable, "phoneNumbers.notApplicable"),
      ),
  },
];
