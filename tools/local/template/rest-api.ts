/**
 * The REST API of a template.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_ApiGateway.html
 */
import * as z from "zod";
import { type ConfiguredResponse, parseConfiguredResponse } from "../gateway/gateway-responses.ts";
import { rootResourceId } from "./physical-names.ts";
import type { Template } from "./template.ts";

const restApiSchema = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });
const stageSchema = z.object({ StageName: z.string() });
const resourceSchema = z.object({ ParentId: z.string(), PathPart: z.string() });
const methodSchema = z.object({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  AuthorizationType: z.enum(["NONE", "CUSTOM"]).default("NONE"),
  AuthorizerId: z.string().optional(),
  ApiKeyRequired: z.literal(false).optional(),
  RequestValidatorId: z.undefined().optional(),
  Integration: z.object({
    Type: z.literal("AWS_PROXY"),
    Uri: z.string(),
    TimeoutInMillis: z.coerce.number().int().positive().default(29_000),
  }),
});
const authorizerSchema = z.object({
  Type: z.literal("TOKEN"),
  AuthorizerUri: z.string(),
  IdentitySource: z.string().regex(/^method\.request\.header\.[^,\s]+$/),
  IdentityValidationExpression: z.string().optional(),
  AuthorizerResultTtlInSeconds: z.coerce.number().int().min(0).max(3600).default(300),
});
const gatewayResponseSchema = z.object({
  ResponseType: z.string(),
  StatusCode: z.coerce.number().int().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});

/** One method of one path, and the function it calls. */
export interface Route {
  /** A verb, or `ANY`. */
  readonly method: string;
  /** As in the template: `/things/{id}`. */
  readonly path: string;
  readonly resourceId: string;
  readonly functionLogicalId: string;
  readonly authorizerLogicalId: string | undefined;
  readonly timeoutMilliseconds: number;
}

/** A token authorizer. */
export interface AuthorizerDefinition {
  readonly logicalId: string;
  readonly functionLogicalId: string;
  readonly headerName: string;
  readonly validationExpression: RegExp | undefined;
  readonly cacheSeconds: number;
}

/** What API Gateway knows about an API. */
export interface RestApi {
  readonly id: string;
  readonly stage: string;
  readonly binaryMediaTypes: readonly string[];
  readonly routes: readonly Route[];
  readonly authorizers: readonly AuthorizerDefinition[];
  readonly responses: readonly ConfiguredResponse[];
}

/**
 * Reads the one REST API of a template.
 * @throws {Error} naming a method or an authorizer of a kind that is not served locally.
 */
export function readRestApi(template: Template): RestApi {
  const [logicalId, ...others] = template.logicalIds("AWS::ApiGateway::RestApi");
  if (logicalId === undefined || others.length > 0) throw new Error("The template must have one REST API");
  const id = template.ref(logicalId);
  const [stage] = template.logicalIds("AWS::ApiGateway::Stage");
  const paths = readPaths(template, id);
  return {
    id,
    stage: stage === undefined ? "prod" : template.properties(stage, stageSchema).StageName,
    binaryMediaTypes: template.properties(logicalId, restApiSchema).BinaryMediaTypes,
    routes: template
      .logicalIds("AWS::ApiGateway::Method")
      .map((method) => readRoute(template, method, paths)),
    authorizers: template
      .logicalIds("AWS::ApiGateway::Authorizer")
      .map((authorizer) => readAuthorizer(template, authorizer)),
    responses: template
      .logicalIds("AWS::ApiGateway::GatewayResponse")
      .map((response) => readGatewayResponse(template, response)),
  };
}

/** Paths by resource id. */
function readPaths(template: Template, restApiId: string): ReadonlyMap<string, string> {
  const resources = new Map(
    template
      .logicalIds("AWS::ApiGateway::Resource")
      .map((logicalId) => [template.ref(logicalId), template.properties(logicalId, resourceSchema)]),
  );
  const root = rootResourceId(restApiId);
  const pathOf = (id: string): string => {
    if (id === root) return "";
    const resource = resources.get(id);
    if (resource === undefined) throw new Error(`The API has no resource ${id}`);
    return `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };
  const paths = new Map([...resources.keys()].map((id) => [id, pathOf(id)]));
  return paths.set(root, "/");
}

function readRoute(template: Template, logicalId: string, paths: ReadonlyMap<string, string>): Route {
  const method = template.properties(logicalId, methodSchema);
  const path = paths.get(method.ResourceId);
  if (path === undefined) throw new Error(`${logicalId} belongs to no resource of the API`);
  if (method.AuthorizationType === "CUSTOM" && method.AuthorizerId === undefined) {
    throw new Error(`${logicalId} wants an authorizer and names none`);
  }
  return {
    method: method.HttpMethod,
    path,
    resourceId: method.ResourceId,
    functionLogicalId: calledFunction(template, logicalId, method.Integration.Uri),
    authorizerLogicalId: method.AuthorizationType === "CUSTOM" ? method.AuthorizerId : undefined,
    timeoutMilliseconds: method.Integration.TimeoutInMillis,
  };
}

function readAuthorizer(template: Template, logicalId: string): AuthorizerDefinition {
  const properties = template.properties(logicalId, authorizerSchema);
  const expression = properties.IdentityValidationExpression;
  return {
    logicalId,
    functionLogicalId: calledFunction(template, logicalId, properties.AuthorizerUri),
    headerName: properties.IdentitySource.slice("method.request.header.".length),
    validationExpression: expression ? new RegExp(expression) : undefined,
    cacheSeconds: properties.AuthorizerResultTtlInSeconds,
  };
}

function readGatewayResponse(template: Template, logicalId: string): ConfiguredResponse {
  const properties = template.properties(logicalId, gatewayResponseSchema);
  return parseConfiguredResponse({
    responseType: properties.ResponseType,
    status: properties.StatusCode,
    parameters: properties.ResponseParameters,
    template: properties.ResponseTemplates["application/json"],
  });
}

/** An integration names its function in a path: `…:lambda:path/2015-03-31/functions/<ARN>/invocations`. */
function calledFunction(template: Template, logicalId: string, uri: string): string {
  const arn = /\/functions\/([^/]+)\/invocations$/.exec(uri)?.[1];
  const called = arn === undefined ? undefined : template.functionOfArn(arn);
  if (called === undefined)
    throw new Error(`${logicalId} calls ${uri}, which is no function of the template`);
  return called.logicalId;
}
