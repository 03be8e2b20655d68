import { Duration, Validations } from "aws-cdk-lib";
import { AuthorizationType, IdentitySource, type Method } from "aws-cdk-lib/aws-apigateway";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { setting } from "../shared/environment.ts";
import { functionIntegration, InvokingRole, ServiceAuthorizer } from "./constructs/api-functions.ts";
import { CustomDomain } from "./constructs/custom-domain.ts";
import { Firewall } from "./constructs/firewall.ts";
import { addOtherVerbs } from "./constructs/other-verbs.ts";
import { ServiceApi } from "./constructs/service-api.ts";
import type { FunctionId } from "./functions.ts";
import { authorizer, methodsOf, otherVerbsOf, scopes } from "./gateway.ts";
import { outputNames } from "./output-names.ts";
import { addOutput } from "./outputs.ts";
import type { Settings } from "./settings.ts";
import type { StageTraits } from "./stage.ts";
import { stageThrottling } from "./throttling.ts";
import { configuration } from "./variables.ts";

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
  const methods = methodsOf(settings);
  const invoked = new Set([authorizer.functionId, ...methods.map(({ functionId }) => functionId)]);
  const role = new InvokingRole(api, "InvokesFunctions", [...invoked].map(invokedOf));
  const authorizers = new Map(
    scopes.map((needed) => [
      needed,
      new ServiceAuthorizer(scope, `Authorizer ${needed}`, {
        handler: invokedOf(authorizer.functionId),
        assumeRole: role,
        identitySource: IdentitySource.header(authorizer.header),
        resultsCacheTtl: Duration.seconds(authorizer.cacheSeconds),
        validationRegex: authorizer.expression,
      }),
    ]),
  );
  for (const { path, verb, functionId, scope: needed, streamed, publicBecause } of methods) {
    const integration = functionIntegration(invokedOf(functionId), role, { streamed });
    const chosen = needed === null ? undefined : authorizers.get(needed);
    const method = api.root
      .resourceForPath(path)
      .addMethod(
        verb,
        integration,
        chosen === undefined
          ? { authorizationType: AuthorizationType.NONE }
          : { authorizationType: AuthorizationType.CUSTOM, authorizer: chosen },
      );
    acknowledgeAuthorization(method, publicBecause);
  }
  for (const others of otherVerbsOf(settings)) {
    addOtherVerbs(api.root.resourceForPath(others.path), others, corsOrigins);
  }
  return api;
}

function acknowledgeAuthorization(method: Method, publicBecause: string | undefined): void {
  const reason =
    publicBecause ??
    "Tokens are issued by this service and by the operator's authorization servers; the authorizer " +
      "verifies both. A Cognito user pool issues neither.";
  const rules = publicBecause === undefined ? ["COG4"] : ["APIG4", "COG4"];
  Validations.of(method).acknowledge(...rules.map((rule) => ({ id: `AwsSolutions-${rule}`, reason })));
}
