import { endpoints, websites } from "../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../shared/endpoint.ts";
import type { FunctionId } from "./functions.ts";
import type { Settings } from "./settings.ts";
import { stages, type Throttling } from "./stage.ts";

/** The settings on which throttling depends. */
type ThrottlingSettings = Pick<Settings, "stage" | "throttling" | "reservedConcurrency" | "corsOrigins">;

const login = "profile/authenticate" satisfies FunctionId;

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

/** For the verbs that a path does not have. */
const ofOtherVerbs: Throttling = { rate: 10, burst: 5 };

/** The same where pages of other origins may call: browsers ask first, and keep the answer for hours. */
const withPreflights: Throttling = { rate: 30, burst: 15 };

/** The methods that answer those, one on each path. */
const otherMethods = [...new Set(endpoints.flatMap(pathsOf))].map((path) => `${path}/ANY`);

/** The methods of websites: pages, and the assets that a parameter names. */
const webPaths = websites.flatMap(({ paths }): readonly string[] => paths);
const pages = webPaths.filter((path) => !path.includes("{")).map((path) => `${path}/GET`);
const assets = webPaths.filter((path) => path.includes("{")).map((path) => `${path}/GET`);

function methodsOf(endpoint: Endpoint): readonly string[] {
  return pathsOf(endpoint).flatMap((path) => verbsOf(endpoint).map((verb) => `${path}/${verb}`));
}

/**
 * The methods whose throttling is not that of all others, by path and verb: `/v3/profile/authenticate/POST`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
export function ownThrottling(settings: ThrottlingSettings): Readonly<Record<string, Throttling>> {
  const { throttling: all } = settings;
  const limits = [
    ...endpoints.map((endpoint) => [methodsOf(endpoint), limitOf(endpoint, settings)] as const),
    [pages, ofPages] as const,
    [assets, ofAssets] as const,
    [otherMethods, settings.corsOrigins.length === 0 ? ofOtherVerbs : withPreflights] as const,
  ];
  const methods = limits.flatMap(([limited, own]) => {
    if (own === undefined) return [];
    const throttling = { rate: Math.min(own.rate, all.rate), burst: Math.min(own.burst, all.burst) };
    return limited.map((method) => [method, throttling] as const);
  });
  return Object.fromEntries(methods);
}

/** What all methods of the stage together let through. The APIs of an account share its rate and burst in a region. */
export function totalThrottling(settings: ThrottlingSettings): Throttling {
  const own = ownThrottling(settings);
  const limits = [...endpoints.flatMap(methodsOf), ...pages, ...assets, ...otherMethods].map(
    (method) => own[method] ?? settings.throttling,
  );
  return {
    rate: limits.reduce((sum, { rate }) => sum + rate, 0),
    burst: limits.reduce((sum, { burst }) => sum + burst, 0),
  };
}

/** For operations: each is asked about a few times, and all methods share the account's rate. */
const ofOperations: Throttling = { rate: 70, burst: 35 };

function limitOf(endpoint: Endpoint, settings: ThrottlingSettings): Throttling | undefined {
  if (endpoint.path.startsWith("/populationdensitydata/operations")) return ofOperations;
  if (endpoint.id === login) return loginLimit(endpoint, settings);
  if (endpoint.id === capabilities) return ofCapabilities;
  return endpoint.scope === null ? ofPublicDocuments : undefined;
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
