import { endpoints, websites } from "../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../shared/endpoint.ts";
import type { FunctionId } from "./functions.ts";
import { accountThrottling, burstOf, type Stage, stages, type Throttling } from "./stage.ts";

const login = "profile/authenticate" satisfies FunctionId;

/** Those of `Settings` on which throttling depends. */
interface ThrottlingSettings {
  readonly stage: Stage;
  readonly throttling: Throttling;
  readonly reservedConcurrency: { readonly [login]?: number };
  readonly corsOrigins: readonly string[];
}

/** Seconds that a login keeps an execution busy, nearly all of them for the hash, at the memory of its record. */
const loginSeconds = 0.25;

const capabilities = "population-density/capabilities" satisfies FunctionId;

/** For the key set and what describes the API: callers keep the first for minutes, and need the others once. */
const ofPublicDocuments: Throttling = { rate: 20, burst: 10 };

/** For the pages of a website. */
const ofPages: Throttling = { rate: 10, burst: 10 };

/** For the assets of a website: a page loads some ten of them at the same time, and browsers keep them. */
const ofAssets: Throttling = { rate: 40, burst: 40 };

/** For what a caller reads before it asks, now and then. */
const ofCapabilities: Throttling = { rate: 40, burst: 20 };

/** For each verb that a path does not have. */
const ofOtherVerbs: Throttling = { rate: 2, burst: 2 };

/** For `OPTIONS` where pages of other origins may call: browsers ask first, and keep the answer for hours. */
const ofPreflights: Throttling = { rate: 15, burst: 10 };

/** The verbs that a method `ANY` stands for. */
const anyVerb = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/** The paths that have one. */
const apiPaths = [...new Set(endpoints.flatMap(pathsOf))];

/** The methods of websites: pages, and the assets that a parameter names. */
const webPaths = websites.flatMap(({ paths }): readonly string[] => paths);
const pages = webPaths.filter((path) => !path.includes("{")).map((path) => `${path}/GET`);
const assets = webPaths.filter((path) => path.includes("{")).map((path) => `${path}/GET`);

function methodsOf(endpoint: Endpoint): readonly string[] {
  return pathsOf(endpoint).flatMap((path) => verbsOf(endpoint).map((verb) => `${path}/${verb}`));
}

/** The throttling of a stage. */
export interface StageThrottling {
  /**
   * Of each declared method, by path and verb: `/v3/profile/authenticate/POST`. A setting cannot name a method `ANY`,
   * only a verb that it stands for (docs/decisions/0003).
   */
  readonly named: Readonly<Record<string, Throttling>>;
  /** Of each verb that is not named. */
  readonly others: Throttling;
}

/**
 * What API Gateway lets through on each method.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
export function stageThrottling(settings: ThrottlingSettings): StageThrottling {
  const { throttling: all, corsOrigins } = settings;
  const atMost = (limit: Throttling): Throttling => ({
    rate: Math.min(limit.rate, all.rate),
    burst: Math.min(limit.burst, all.burst),
  });
  const preflights = corsOrigins.length === 0 ? [] : apiPaths.map((path) => `${path}/OPTIONS`);
  const limits = [
    ...endpoints.map((endpoint) => [methodsOf(endpoint), limitOf(endpoint, settings)] as const),
    [pages, ofPages] as const,
    [assets, ofAssets] as const,
    [preflights, ofPreflights] as const,
  ];
  const named = limits.flatMap(([methods, limit]) =>
    methods.map((method) => [method, atMost(limit)] as const),
  );
  return { named: Object.fromEntries(named), others: atMost(ofOtherVerbs) };
}

/** What all methods of the stage together let through. The APIs of an account share its rate and burst in a region. */
export function totalThrottling(settings: ThrottlingSettings): Throttling {
  const { named, others } = stageThrottling(settings);
  const verbs = apiPaths.flatMap((path) => anyVerb.map((verb) => `${path}/${verb}`));
  const limits = [...Object.values(named), ...verbs.filter((verb) => !(verb in named)).map(() => others)];
  return {
    rate: limits.reduce((sum, { rate }) => sum + rate, 0),
    burst: limits.reduce((sum, { burst }) => sum + burst, 0),
  };
}

/**
 * Requests a second on each method that has no other limit here: the stage's maximum, or as many as leave all methods
 * within the quotas of an account, those of the token endpoint too: a stage that gets one keeps its other limits.
 */
export function requestRateOf(stage: Stage): number {
  const fits = (rate: number) => {
    const throttling = { rate, burst: burstOf(rate) };
    const total = totalThrottling({ stage, throttling, reservedConcurrency: {}, corsOrigins: ["*"] });
    return total.rate <= accountThrottling.rate && total.burst <= accountThrottling.burst;
  };
  let rate = stages[stage].maxRequestRate;
  while (rate > 1 && !fits(rate)) rate--;
  return rate;
}

/** For operations: each is asked about a few times, and all methods share the account's rate. */
const ofOperations: Throttling = { rate: 70, burst: 35 };

function limitOf(endpoint: Endpoint, settings: ThrottlingSettings): Throttling {
  if (endpoint.path.startsWith("/populationdensitydata/operations")) return ofOperations;
  if (endpoint.id === login) return loginLimit(endpoint, settings);
  if (endpoint.id === capabilities) return ofCapabilities;
  return endpoint.scope === null ? ofPublicDocuments : settings.throttling;
}

/** The paths of the login share its executions: more logins would keep those of other functions busy. */
function loginLimit(endpoint: Endpoint, { stage, reservedConcurrency }: ThrottlingSettings): Throttling {
  const executions = reservedConcurrency[login] ?? stages[stage].loginExecutions;
  const share = executions / pathsOf(endpoint).length;
  return {
    rate: Math.max(1, Math.floor(share / loginSeconds)),
    burst: Math.max(1, Math.floor(share)),
  };
}
