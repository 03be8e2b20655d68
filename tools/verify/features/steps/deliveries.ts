import { expectThat, inPlan, Unexpected } from "../ending.ts";
import type { World } from "../world.ts";
import { present, requireOneOf, requireSchema } from "./answer.ts";
import type { Step } from "./step.ts";

/** What arrives at the sink. Feature files call it "the request". */
export const deliverySteps: readonly Step[] = [
  {
    pattern: /^there have been some problem processing the request asynchronously$/,
    arrange: (world) => {
      world.failingStatus = inPlan(world.plan.receiver?.failingStatus, "receiver.failingStatus");
    },
    run: async (world) => {
      const refused = await world.surroundings.receiver?.delivery(sinkOf(world), "refused");
      expectThat(
        refused !== undefined,
        "no delivery came that could be answered so that the operation fails",
      );
    },
  },
  {
    pattern:
      /^the request with the response body will be received at the address of the request property "\$\.sink"$/,
    run: async (world) => {
      world.delivery = await world.surroundings.receiver?.delivery(sinkOf(world), "accepted");
      expectThat(world.delivery !== undefined, "nothing was delivered to the sink in time");
    },
  },
  {
    pattern:
      /^the request will have header "Authorization" set to "Bearer " \+ the value of the request property "(\$.+)"$/,
    run: (world, path = "") => {
      const isSent = delivered(world).headers.authorization === `Bearer ${world.sentValue(path)}`;
      expectThat(isSent, "the delivery lacks the token of the sink's credential");
    },
  },
  {
    pattern: /^the request will have property "(\$.+)" equal to response property "(\$.+)"$/,
    run: (world, path = "", answered = "") =>
      requireOneOf(delivered(world).body, path, [present(world.sentAnswer.body, answered)]),
  },
  {
    pattern: /^the request body complies with the OAS schema at "(.+)"$/,
    run: (world, pointer = "") => requireSchema(world, delivered(world).body, pointer),
  },
  {
    pattern: /^the request body will have property "(\$.+)" equal to "(\w+)" and includes property "(\$.+)"$/,
    run: (world, path = "", expected, included = "") => {
      requireOneOf(delivered(world).body, path, [expected]);
      present(delivered(world).body, included);
    },
  },
];

function sinkOf(world: World): string {
  return String(world.sentValue("$.sink"));
}

function delivered({ delivery }: World) {
  if (delivery === undefined) throw new Unexpected("nothing was delivered to the sink");
  return delivery;
}
