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
  readonly reservedConcurrency: { readonly [login]?: number };
}

/** Seconds that a login keeps an execution busy, nearly all of them for the hash, at the memory of its record. */
const loginSeconds = 0.25;

const capabilities = "population-density/capabilities" satisfies FunctionId;

const keySet = "keys/publish" satisfies FunctionId;

/** For the key set, which services that verify tokens keep for minutes. */
const ofKeySet: Throttling = { rate: 20, burst: 10 };

/** For the assets of a website: a page loads some ten of them at the same time, and browsers keep them. */
const ofAssets: Throttling = { rate: 40, burst: 40 };

/** For what a caller reads before it asks, now and then. */
const ofCapabilities: Throttling = { rate: 40, burst: 20 };

const tokens = "oauth2/token" satisfies FunctionId;

/** For tokens, which clients keep for an hour: what does not prove who it is costs a read and a verification. */
const ofTokens: Throttling = { rate: 50, burst: 25 };

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
  const { throttling: all } = settings;
  const atMost = (limit: Throttling): Throttling => ({
    rate: Math.min(limit.rate, all.rate),
    burst: Math.min(limit.burst, all.burst),
  });
  const limits = [
    ...servedEndpoints(settings).map(
      (endpoint) => [methodsOf(endpoint), limitOf(endpoint, settings)] as const,
    ),
    [assets, ofAssets] as const,
  ];
  const named = limits.flatMap(([methods, limit]) =>
    limit === undefined ? [] : methods.map((method) => [method, atMost(limit)] as const),
  );
  return { named: Object.fromEntries(named), others: atMost(byDefault) };
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

/** For operations: each is asked about a few times, and all methods share the account's rate. */
const ofOperations: Throttling = { rate: 70, burst: 35 };

/** The limit of an endpoint's methods; undefined for the stage's default. */
function limitOf(endpoint: Endpoint, settings: ThrottlingSettings): Throttling | undefined {
  if (endpoint.path.startsWith("/populationdensitydata/operations")) return ofOperations;
  if (endpoint.id === login) return loginLimit(endpoint, settings);
  if (endpoint.id === tokens) return ofTokens;
  if (endpoint.id === capabilities) return ofCapabilities;
  if (endpoint.id === keySet) return ofKeySet;
  return endpoint.scope === null ? undefined : settings.throttling;
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
