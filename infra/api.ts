import { Duration, Validations } from "aws-cdk-lib";
import { AuthorizationType, type Method } from "aws-cdk-lib/aws-apigateway";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { endpoints, websites } from "../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../shared/endpoint.ts";
import { setting } from "../shared/environment.ts";
import { functionIntegration, InvokingRole, ServiceAuthorizer } from "./constructs/api-functions.ts";
import { CustomDomain } from "./constructs/custom-domain.ts";
import { Firewall } from "./constructs/firewall.ts";
import { addOtherVerbs } from "./constructs/other-verbs.ts";
import { ServiceApi } from "./constructs/service-api.ts";
import type { FunctionId } from "./functions.ts";
import { outputNames } from "./output-names.ts";
import { addOutput } from "./outputs.ts";
import { servedEndpoints } from "./served.ts";
import type { Settings } from "./settings.ts";
import type { StageTraits } from "./stage.ts";
import { stageThrottling } from "./throttling.ts";
import { configuration } from "./variables.ts";

/** A policy is kept per token for this long; functions check the token's expiry themselves. */
const authorizerCache = Duration.minutes(5);

/** Tokens of another form are refused by API Gateway without running the authorizer. */
const bearerToken = "^[Bb][Ee][Aa][Rr][Ee][Rr] +[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$";

interface ApiProps {
  readonly settings: Settings;
  readonly traits: StageTraits;
  /** What a function's callers invoke: its alias, or the function. */
  readonly invokedOf: (id: FunctionId) => IFunction;
}

/**
 * Adds the API with every path of every endpoint of the stage, an authorizer before those that need a token: one for each scope, all
 * with the same function, so that a cached answer can name the scope that its routes need (docs/decisions/0001).
 */
export function addApi(scope: Construct, { settings, traits, invokedOf }: ApiProps): ServiceApi {
  const { gatewayMayLog, domain, awsHostIsOpen, waf, corsOrigins, traced } = settings;
  const { RATE_LIMIT_PER_MINUTE = configuration.RATE_LIMIT_PER_MINUTE.default } = settings.configuration;
  const api = new ServiceApi(scope, "Api", {
    traits,
    throttling: stageThrottling(settings),
    traced,
    gatewayMayLog,
    awsHostIsOpen,
    corsOrigins,
  });
  if (domain === undefined) addOutput(scope, outputNames.apiAddress, api.url);
  else new CustomDomain(scope, "Domain", api, domain);
  if (waf) {
    const rate = setting(configuration.RATE_LIMIT_PER_MINUTE, { RATE_LIMIT_PER_MINUTE });
    new Firewall(scope, "Firewall", { stage: api.deploymentStage, ratePerMinute: rate, traits });
  } else {
    Validations.of(api.deploymentStage).acknowledge({
      id: "AwsSolutions-APIG3",
      reason:
        "A firewall has a monthly price, and operators may have one elsewhere: the setting `waf` adds one. " +
        "Without it, the stage's throttling, the authorizer, the quota of each caller and the limits " +
        "on logins protect the API.",
    });
  }
  const served = servedEndpoints(settings);
  const invoked = new Set(["authorizer/authorize", ...[...served, ...websites].map(({ id }) => id)] as const);
  const role = new InvokingRole(api, "InvokesFunctions", [...invoked].map(invokedOf));
  const authorizers = new Map(
    scopesOf(endpoints).map((needed) => [
      needed,
      new ServiceAuthorizer(scope, `Authorizer ${needed}`, {
        handler: invokedOf("authorizer/authorize"),
        assumeRole: role,
        resultsCacheTtl: authorizerCache,
        validationRegex: bearerToken,
      }),
    ]),
  );
  for (const endpoint of served) {
    const integration = functionIntegration(invokedOf(endpoint.id), role, {
      streamed: "streamed" in endpoint,
    });
    const authorizer = endpoint.scope === null ? undefined : authorizers.get(endpoint.scope);
    const authorization =
      authorizer === undefined
        ? { authorizationType: AuthorizationType.NONE }
        : { authorizationType: AuthorizationType.CUSTOM, authorizer };
    for (const path of pathsOf(endpoint)) {
      const resource = api.root.resourceForPath(path);
      for (const verb of verbsOf(endpoint)) {
        const method = resource.addMethod(verb, integration, authorization);
        acknowledgeAuthorization(method, (endpoint as Endpoint).publicBecause);
      }
    }
  }
  for (const { id, paths, publicBecause } of websites) {
    const integration = functionIntegration(invokedOf(id), role);
    for (const path of paths) {
      const method = api.root
        .resourceForPath(path)
        .addMethod("GET", integration, { authorizationType: AuthorizationType.NONE });
      acknowledgeAuthorization(method, publicBecause);
    }
  }
  for (const [path, answering] of endpointsByPath(served)) {
    addOtherVerbs(api.root.resourceForPath(path), answering, corsOrigins);
  }
  return api;
}

function endpointsByPath(declared: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> {
  const byPath = new Map<string, readonly Endpoint[]>();
  for (const endpoint of declared) {
    for (const path of pathsOf(endpoint)) byPath.set(path, [...(byPath.get(path) ?? []), endpoint]);
  }
  return byPath;
}

function scopesOf(declared: readonly Endpoint[]): readonly string[] {
  return [...new Set(declared.flatMap(({ scope }) => scope ?? []))];
}

function acknowledgeAuthorization(method: Method, publicBecause: string | undefined): void {
  const reason =
    publicBecause ??
    "Tokens are issued by this service and by the operator's authorization servers; the authorizer " +
      "verifies both. A Cognito user pool issues neither.";
  const rules = publicBecause === undefined ? ["COG4"] : ["APIG4", "COG4"];
  Validations.of(method).acknowledge(...rules.map((rule) => ({ id: `AwsSolutions-${rule}`, reason })));
}
