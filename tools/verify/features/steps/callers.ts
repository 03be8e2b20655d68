import { CannotRun, inPlan, Unexpected } from "../ending.ts";
import type { World } from "../world.ts";
import type { Step } from "./step.ts";

const authorization = '(?:the header "Authorization" is set to )?';

/** Who sends the request. */
export const callerSteps: readonly Step[] = [
  {
    pattern: /^the header "Authorization" is set to a valid access token$/,
    run: (world) => world.useCaller(world.usualCaller),
  },
  {
    pattern: new RegExp(`^${authorization}an expired access token$`),
    run: async (world) => world.useToken(await world.surroundings.tokens.expired()),
  },
  {
    pattern: new RegExp(
      `^${authorization}an invalid access token(?: which is invalid for reasons other than lifetime expiry)?$`,
    ),
    run: async (world) => world.useToken(await world.surroundings.tokens.invalid()),
  },
  {
    pattern:
      /^the header "Authorization" is set to an access token (?:that does not include scope (\S+)|without the required scope)$/,
    run: async (world, named) => {
      const scope = named || inPlan(world.resource.operation.scopes[0], "scope of the operation");
      await world.useCaller(world.surroundings.tokens.callerWithout(scope));
    },
  },
  {
    pattern: /^one of the scopes associated with the access token is (\S+)$/,
    run: ({ caller, plan }, scope = "") => {
      const { scopes } = inPlan(plan.callers[caller ?? ""], "caller of the request");
      if (!scopes.includes(scope)) throw new CannotRun(`the plan has no scope ${scope} for ${caller}`);
    },
  },
  {
    pattern:
      /^the header "Authorization" is set to a valid access(?: token)? which does not identify a (?:single )?(?:device|phone number)$/,
    run: useApplication,
  },
  { pattern: /^no subject is identified by the access token$/, run: useApplication },
  { pattern: /^that the device cannot be identified from the access token$/, run: useApplication },
  {
    pattern:
      /^the header "Authorization" is set to a valid access token (?:identifying a (?:device|phone number)|for that same device)$/,
    run: async (world) => {
      await world.useCaller(inPlan(world.plan.devices.valid?.caller, "devices.valid.caller"));
    },
  },
  {
    pattern: /^the header "Authorization" is set to a valid access token obtained for a different device$/,
    run: async (world) =>
      await world.useCaller(inPlan(world.plan.devices.otherCaller, "devices.otherCaller")),
  },
  {
    pattern: /^a 2-legged or 3-legged access token is being used$/,
    run: ({ caller }) => void inPlan(caller, "caller whose valid token is sent"),
  },
  {
    pattern: /^that the environment is configured with a threshold policy of N transactions per second$/,
    run: (world) => {
      world.usualCaller = inPlan(world.plan.threshold, "threshold").caller;
    },
  },
  { pattern: /^the threshold of requests has been reached$/, run: reachThreshold },
];

async function useApplication(world: World): Promise<void> {
  await world.useCaller(world.plan.application);
}

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
