import { expectThat, inPlan, Unexpected } from "../ending.ts";
import type { Delivery } from "../receiver.ts";
import type { World } from "../world.ts";
import { present, requireOneOf, requireSchema } from "./answer.ts";
import { on, type Step } from "./step.ts";

/** What arrives at the sink. Feature files call it "the request". */
export const deliverySteps: readonly Step[] = [
  on(
    /^there have been some problem processing the request asynchronously$/,
    async (world) => {
      const refused = await arrived(world, "refused");
      const otherwise = "no delivery came that could be answered so that the operation fails";
      expectThat(refused !== undefined, otherwise);
    },
    (world) => {
      world.failingStatus = inPlan(world.plan.receiver?.failingStatus, "receiver.failingStatus");
    },
  ),
  on(
    /^the request with the response body will be received at the address of the request property "\$\.sink"$/,
    async (world) => {
      world.delivery = await arrived(world, "accepted");
      expectThat(world.delivery !== undefined, "nothing was delivered to the sink in time");
    },
  ),
  on(
    /^the request will have header "Authorization" set to "Bearer " \+ the value of the request property "(\$.+)"$/,
    (world, path = "") => {
      const isSent = delivered(world).headers.authorization === `Bearer ${world.sentValue(path)}`;
      expectThat(isSent, "the delivery lacks the token of the sink's credential");
    },
  ),
  on(
    /^the request will have property "(\$.+)" equal to response property "(\$.+)"$/,
    (world, path = "", answered = "") =>
      requireOneOf(delivered(world).body, path, [present(world.sentAnswer.body, answered)]),
  ),
  on(/^the request body complies with the OAS schema at "(.+)"$/, (world, pointer = "") =>
    requireSchema(world, delivered(world).body, pointer),
  ),
  on(
    /^the request body will have property "(\$.+)" equal to "(\w+)" and includes property "(\$.+)"$/,
    (world, path = "", expected, included = "") => {
      requireOneOf(delivered(world).body, path, [expected]);
      present(delivered(world).body, included);
    },
  ),
];

async function arrived(world: World, wanted: "accepted" | "refused"): Promise<Delivery | undefined> {
  return await world.surroundings.receiver?.delivery(String(world.sentValue("$.sink")), wanted);
}

function delivered({ delivery }: World): Delivery {
  if (delivery === undefined) throw new Unexpected("nothing was delivered to the sink");
  return delivery;
}
