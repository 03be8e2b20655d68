import { websites } from "../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../shared/endpoint.ts";
import type { FunctionId } from "./functions.ts";
import { type ServedSettings, servedEndpoints } from "./served.ts";
import { SettingError } from "./setting-error.ts";
import { accountThrottling, type Stage, stages, type Throttling } from "./stage.ts";

const login = "profile/authenticate" satisfies FunctionId;

/** The members of `Settings` on which throttling depends. */
interface ThrottlingSettings extends Pick<ServedSettings, "configuration"> {
  readonly stage: Stage;
  readonly throttling: Throttling;
  readonly tokenThrottling?: Throttling;
  readonly reservedConcurrency: { readonly [login]?: number };
}

/** Seconds that a login keeps an execution busy, nearly all of them for the hash, at the memory of its record. */
const loginSeconds = 0.25;

const tokens = "oauth2/token" satisfies FunctionId;

/** For the assets of a website: a page loads some ten of them at the same time, and browsers keep them. */
const ofAssets: Throttling = { rate: 40, burst: 40 };

/** For what nobody needs often: a caller has two webhook secrets, and changes few of its operations. */
const ofRare: Throttling = { rate: 20, burst: 10 };

/** For what a caller reads before it asks, now and then. */
const ofOverviews: Throttling = { rate: 40, burst: 20 };

/** For all that does not answer with data, so that what does has most of the account's rate. */
const ofOthers: Readonly<Partial<Record<FunctionId, Throttling>>> = {
  "population-density/capabilities": ofOverviews,
  "population-density/list-operations": ofOverviews,
  // Each is read a few times, until it has ended.
  "population-density/read-operation": { rate: 150, burst: 75 },
  "population-density/cancel-operation": ofRare,
  "population-density/redeliver-operation": ofRare,
  "population-density/create-webhook-secret": ofRare,
  "population-density/list-webhook-secrets": ofRare,
  "population-density/delete-webhook-secret": ofRare,
  // Services that verify tokens keep the key set for minutes.
  "keys/publish": ofRare,
};

/**
 * For pages and documents about the API, which people and programs read once, and for each verb that a path does not
 * have, including `OPTIONS`: a browser sends one before a page of another origin calls, and caches the answer for hours.
 * The limit does not depend on whether such pages are allowed, so that allowing them does not change a setting of every
 * path in one update of the stage.
 */
const byDefault: Throttling = { rate: 7, burst: 4 };

/**
 * The most changes that the method settings of a stage may make. API Gateway refuses an update of a stage with more than
 * some 80, as operators report (`Update size too large`), and the same update may change the deployment, the
 * destination and the format of the access log, and tracing too.
 * https://github.com/DianaIonita/serverless-api-gateway-caching/issues/46
 */
export const maxMethodChanges = 76;

/** The verbs that a method `ANY` stands for. */
const anyVerb = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/** The methods of websites: pages, and the assets that a parameter names. */
const webMethods = websites.flatMap(({ paths }) => paths.map((path) => `${path}/GET`));
const assets = webMethods.filter((method) => method.includes("{"));

function methodsOf(endpoint: Endpoint): readonly string[] {
  return pathsOf(endpoint).flatMap((path) => verbsOf(endpoint).map((verb) => `${path}/${verb}`));
}

/** The throttling of a stage. */
export interface StageThrottling {
  /**
   * Limits of each method that has its own, by path and verb: `/v3/profile/authenticate/POST`. A setting cannot name a
   * method `ANY`, only a verb that it stands for (docs/decisions/0003).
   */
  readonly named: Readonly<Record<string, Throttling>>;
  /** Limits of each method and verb that is not named. */
  readonly others: Throttling;
}

/**
 * What API Gateway lets through on each method.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
export function stageThrottling(settings: ThrottlingSettings): StageThrottling {
  const atMost = atMostOf(settings);
  const limits = [
    ...servedEndpoints(settings).map(
      (endpoint) => [methodsOf(endpoint), limitOf(endpoint, settings)] as const,
    ),
    [assets, atMost(ofAssets)] as const,
  ];
  const named = limits.flatMap(([methods, limit]) =>
    limit === undefined ? [] : methods.map((method) => [method, limit] as const),
  );
  return { named: Object.fromEntries(named), others: atMost(byDefault) };
}

/** Lowers a limit to what each method of an operation has. */
function atMostOf({ throttling: { rate, burst } }: ThrottlingSettings): (limit: Throttling) => Throttling {
  return (limit) => ({ rate: Math.min(limit.rate, rate), burst: Math.min(limit.burst, burst) });
}

/** What all methods of the stage together let through. The APIs of an account share its rate and burst in a region. */
export function totalThrottling(settings: ThrottlingSettings): Throttling {
  const { named, others } = stageThrottling(settings);
  const paths = new Set(servedEndpoints(settings).flatMap(pathsOf));
  const methods = [...[...paths].flatMap((path) => anyVerb.map((verb) => `${path}/${verb}`)), ...webMethods];
  const limits = methods.map((method) => named[method] ?? others);
  return {
    rate: limits.reduce((sum, { rate }) => sum + rate, 0),
    burst: limits.reduce((sum, { burst }) => sum + burst, 0),
  };
}

/**
 * Refuses limits with which all methods of a stage, those of the token endpoint too, would let more through than an
 * account may in most regions: who adds a method decides which limit to lower for it.
 * @throws {SettingError} naming both sums.
 */
export function refuseMoreThanAnAccountHas(
  stage: Stage,
  throttling: Throttling = stages[stage].methodThrottling,
): void {
  const configuration = { TOKEN_ENDPOINT: "on" };
  const { rate, burst } = totalThrottling({ stage, throttling, reservedConcurrency: {}, configuration });
  if (rate <= accountThrottling.rate && burst <= accountThrottling.burst) return;
  throw new SettingError(
    `The methods of ${stage} let ${rate} requests a second and ${burst} at once through, and an account has ` +
      `${accountThrottling.rate} and ${accountThrottling.burst}: lower a limit of infra/throttling.ts, or ` +
      "methodThrottling of infra/stage.ts",
  );
}

/** The limit of an endpoint's methods; undefined for the stage's default. */
function limitOf(endpoint: Endpoint, settings: ThrottlingSettings): Throttling | undefined {
  const { throttling, tokenThrottling = throttling } = settings;
  const atMost = atMostOf(settings);
  if (endpoint.id === login) return atMost(loginLimit(endpoint, settings));
  // A client keeps its own token for an hour, but needs one for each subscriber.
  if (endpoint.id === tokens) return tokenThrottling;
  const limit = Object.entries(ofOthers).find(([id]) => id === endpoint.id)?.[1];
  if (limit !== undefined) return atMost(limit);
  return endpoint.scope === null ? undefined : throttling;
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
