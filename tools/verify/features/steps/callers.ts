import { CannotRun, inPlan, Unexpected } from "../ending.ts";
import type { World } from "../world.ts";
import { on, type Step } from "./step.ts";

const useApplication: Step["run"] = (world) => world.useCaller(world.plan.application);
const useExpired: Step["run"] = async (world) => world.useToken(await world.surroundings.tokens.expired());
const useInvalid: Step["run"] = async (world) => world.useToken(await world.surroundings.tokens.invalid());

/** Who sends the request. */
export const callerSteps: readonly Step[] = [
  on(/^the header "Authorization" is set to a valid access token$/, (world) =>
    world.useCaller(world.usualCaller),
  ),
  on(/^(?:the header "Authorization" is set to )?an expired access token$/, useExpired),
  on(
    /^(?:the header "Authorization" is set to )?an invalid access token(?: which is invalid for reasons other than lifetime expiry)?$/,
    useInvalid,
  ),
  on(
    /^the header "Authorization" is set to an access token (?:that does not include scope (\S+)|without the required scope)$/,
    async (world, named) => {
      const scope = named || inPlan(world.resource.operation.scopes[0], "scope of the operation");
      await world.useCaller(world.surroundings.tokens.callerWithout(scope));
    },
  ),
  on(/^one of the scopes associated with the access token is (\S+)$/, ({ caller, plan }, scope = "") => {
    const { scopes } = inPlan(plan.callers[caller ?? ""], "caller of the request");
    if (!scopes.includes(scope)) throw new CannotRun(`the plan has no scope ${scope} for ${caller}`);
  }),
  on(
    /^the header "Authorization" is set to a valid access(?: token)? which does not identify a (?:single )?(?:device|phone number)$/,
    useApplication,
  ),
  on(/^no subject is identified by the access token$/, useApplication),
  on(/^that the device cannot be identified from the access token$/, useApplication),
  on(
    /^the header "Authorization" is set to a valid access token (?:identifying a (?:device|phone number)|for that same device)$/,
    (world) => world.useCaller(inPlan(world.plan.devices.valid?.caller, "devices.valid.caller")),
  ),
  on(/^the header "Authorization" is set to a valid access token obtained for a different device$/, (world) =>
    world.useCaller(inPlan(world.plan.devices.otherCaller, "devices.otherCaller")),
  ),
  on(
    /^a 2-legged or 3-legged access token is being used$/,
    ({ caller }) => void inPlan(caller, "caller whose valid token is sent"),
  ),
  on(/^that the environment is configured with a threshold policy of N transactions per second$/, (world) => {
    world.usualCaller = inPlan(world.plan.threshold, "threshold").caller;
  }),
  on(/^the threshold of requests has been reached$/, reachThreshold),
];

async function reachThreshold(world: World): Promise<void> {
  const { requests, seconds } = inPlan(world.plan.threshold, "threshold");
  const begun = performance.now();
  let sent = 0;
  let isReached = false;
  const work = async () => {
    while (sent++ < requests && !isReached) {
      await world.send();
      isReached ||= world.sentAnswer.status === 429;
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  if (isReached) return;
  const took = ((performance.now() - begun) / 1_000).toFixed(1);
  if (Number(took) > seconds) {
    throw new CannotRun(`${requests} requests took ${took} s, and reach the threshold within ${seconds} s`);
  }
  throw new Unexpected(
    `none of ${requests} requests in ${took} s was answered with 429: the limit of the rate is above ` +
      "threshold.requests of the plan, or there is none",
  );
}
