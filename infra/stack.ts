import { join } from "node:path";
import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import {
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { endpoints } from "../functions/endpoints.ts";
import { type Endpoint, pathsOf } from "../shared/endpoint.ts";
import { type ConfigurationName, configuration, type VariableName } from "../shared/environment.ts";
import { type TableName, tables, tableVariable } from "../shared/tables.ts";
import { access, type FunctionId } from "./access.ts";
import { constructName, functionIds } from "./bundles.ts";
import { addGatewayResponses } from "./constructs/gateway-responses.ts";
import { ServiceFunction } from "./constructs/service-function.ts";
import { ServiceTable } from "./constructs/service-table.ts";
import { rotate, type SecretReference, signingKeySecret } from "./constructs/signing-key.ts";
import { tableOutput } from "./outputs.ts";

interface NetworkCapabilitiesProps extends StackProps {
  /** The folder with the bundles: what is deployed, and what a local run executes. */
  readonly bundles: string;
  /** Full ARN of a secret that holds the signing key; without it the stack makes and rotates one. */
  readonly signingKeySecretArn?: string;
}

const rotation = "keys/rotate" satisfies FunctionId;

/** A policy is kept per token for this long; functions check the token's expiry themselves. */
const authorizerCache = Duration.minutes(5);

/** Tokens of another form are refused by API Gateway without running the authorizer. */
const bearerToken = "^[Bb][Ee][Aa][Rr][Ee][Rr] +[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$";

/** The whole service: tables, signing key, one function per endpoint, the authorizer, the API. */
export class NetworkCapabilitiesStack extends Stack {
  readonly #bundles: string;
  readonly #tables: Readonly<Record<TableName, ServiceTable>>;
  readonly #signingKey: SecretReference;

  constructor(scope: Construct, id: string, props: NetworkCapabilitiesProps) {
    super(scope, id, props);
    this.#bundles = props.bundles;
    this.#tables = this.#makeTables();
    this.#signingKey = signingKeySecret(this, props.signingKeySecretArn);
    // Who gives the secret rotates it.
    const isOurs = props.signingKeySecretArn === undefined;
    const made = functionIds.filter((name) => isOurs || name !== rotation);
    const functions = Object.fromEntries(made.map((name) => [name, this.#makeFunction(name)])) as Record<
      FunctionId,
      ServiceFunction
    >;
    if (isOurs) rotate(this, this.#signingKey, functions[rotation]);

    const api = this.#makeApi();
    const authorizer = new TokenAuthorizer(this, "Authorizer", {
      handler: functions["authorizer/authorize"],
      resultsCacheTtl: authorizerCache,
      validationRegex: bearerToken,
    });
    for (const endpoint of endpoints) {
      const integration = new LambdaIntegration(functions[endpoint.id], { allowTestInvoke: false });
      for (const path of pathsOf(endpoint)) {
        api.root
          .resourceForPath(path)
          .addMethod(
            endpoint.method,
            integration,
            endpoint.scope === null
              ? { authorizationType: AuthorizationType.NONE }
              : { authorizationType: AuthorizationType.CUSTOM, authorizer },
          );
      }
    }
  }

  #makeTables(): Record<TableName, ServiceTable> {
    const names = Object.keys(tables) as TableName[];
    const made = names.map((name) => {
      const variable = tableVariable(name);
      const table = new ServiceTable(this, variable, name);
      new CfnOutput(this, tableOutput(name), { value: table.tableName });
      return [name, table];
    });
    return Object.fromEntries(made) as Record<TableName, ServiceTable>;
  }

  #makeApi(): RestApi {
    const api = new RestApi(this, "Api", {
      description: "Network Capabilities Service",
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: { stageName: "live" },
      cloudWatchRole: false,
      // Bodies reach the functions as the bytes that were sent.
      binaryMediaTypes: ["*/*"],
    });
    addGatewayResponses(api);
    return api;
  }

  /** A function with exactly the rights and the environment that `access` gives it. */
  #makeFunction(id: FunctionId): ServiceFunction {
    const { tables: granted = {}, signingKey, variables = [] } = access[id];
    const tableNames = Object.keys(granted) as TableName[];
    const made = new ServiceFunction(this, constructName(id), {
      bundle: join(this.#bundles, id),
      description: id,
      environment: {
        LOG_LEVEL: configuration.LOG_LEVEL.default,
        ...Object.fromEntries(tableNames.map((name) => [tableVariable(name), this.#tables[name].tableName])),
        ...Object.fromEntries(variables.map((name) => [name, this.#valueOf(name)])),
      },
      ...(id === rotation ? { timeoutSeconds: 30 } : {}),
    });
    for (const name of tableNames) {
      const actions = (granted[name] ?? []).map((action) => `dynamodb:${action}`);
      made.addToRolePolicy(new PolicyStatement({ actions, resources: [this.#tables[name].tableArn] }));
    }
    if (signingKey !== undefined) {
      const actions = signingKey.map((action) => `secretsmanager:${action}`);
      made.addToRolePolicy(new PolicyStatement({ actions, resources: [this.#signingKey.secretArn] }));
    }
    return made;
  }

  #valueOf(name: VariableName): string {
    if (name === "SIGNING_KEY_SECRET_ARN") return this.#signingKey.secretArn;
    if (name === "ROUTES_BY_SCOPE") return JSON.stringify(routesByScope(endpoints));
    return configuration[name satisfies ConfigurationName].default;
  }
}

/** The routes each scope opens, as the authorizer writes them into a policy. */
export function routesByScope(declared: readonly Endpoint[]): Record<string, string[]> {
  const routes: Record<string, string[]> = {};
  for (const endpoint of declared) {
    if (endpoint.scope === null) continue;
    const opened = pathsOf(endpoint).map((path) => `${endpoint.method}${path.replaceAll(/\{[^}]+\}/g, "*")}`);
    routes[endpoint.scope] = [...(routes[endpoint.scope] ?? []), ...opened];
  }
  return routes;
}
