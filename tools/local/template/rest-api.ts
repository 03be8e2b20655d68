/**
 * The REST API of a template.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_ApiGateway.html
 */
import * as z from "zod";
import { calledFunction, type LocalFunction } from "./functions.ts";
import { requireInvoker } from "./invoking-role.ts";
import {
  type MockIntegration,
  methodResponseSchema,
  mockIntegration,
  mockSchema,
} from "./mock-integration.ts";
import { rootResourceId } from "./physical-names.ts";
import type { Resources } from "./resources.ts";

const restApiSchema = z.object({
  BinaryMediaTypes: z.tuple([z.literal("*/*")]),
  MinimumCompressionSize: z.coerce.number().int().nonnegative().optional(),
});
const stageSchema = z.object({ StageName: z.string() });
const resourceSchema = z.object({
  ParentId: z.string(),
  PathPart: z.string().regex(/^(?:[^{}]+|\{[^{}+]+\})$/, "greedy parameters are not supported locally"),
});
const functionSchema = z.object({
  Type: z.literal("AWS_PROXY"),
  Uri: z.string(),
  Credentials: z.string().optional(),
  ResponseTransferMode: z.enum(["BUFFERED", "STREAM"]).default("BUFFERED"),
  TimeoutInMillis: z.coerce.number().int().positive().default(29_000),
});
const methodSchema = z.object({
  HttpMethod: z.enum(["ANY", "DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"]),
  ResourceId: z.string(),
  AuthorizationType: z.enum(["NONE", "CUSTOM"]),
  AuthorizerId: z.string().optional(),
  MethodResponses: z.array(methodResponseSchema).default([]),
  Integration: z.discriminatedUnion("Type", [functionSchema, mockSchema]),
});
const authorizerSchema = z.object({
  Type: z.literal("TOKEN"),
  AuthorizerUri: z.string(),
  AuthorizerCredentials: z.string().optional(),
  IdentitySource: z.string().regex(/^method\.request\.header\.[^,\s]+$/),
  IdentityValidationExpression: z.string(),
  AuthorizerResultTtlInSeconds: z.coerce.number().int().min(1).max(3600),
});
const gatewayResponseSchema = z.object({
  ResponseType: z.string(),
  StatusCode: z.coerce.number().int().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.object({ "application/json": z.string() }),
});

/** The function that a method invokes. */
interface FunctionIntegration {
  readonly functionLogicalId: string;
  readonly timeoutMilliseconds: number;
  /** Whether the response is sent while the function is writing it. */
  readonly isStreamed: boolean;
}

/** One method of one path, and its integration. */
export interface Route {
  /** A verb, or `ANY` for all verbs without a method of their own. */
  readonly method: string;
  /** As in the template: `/things/{id}`. */
  readonly path: string;
  readonly resourceId: string;
  readonly authorizerLogicalId: string | undefined;
  readonly integration: FunctionIntegration | MockIntegration;
}

/** A token authorizer. */
export interface AuthorizerDefinition {
  readonly logicalId: string;
  readonly functionLogicalId: string;
  readonly headerName: string;
  readonly validationExpression: RegExp;
  readonly cacheSeconds: number;
}

/** A gateway response. */
export interface DeclaredResponse {
  readonly responseType: string;
  readonly status: number | undefined;
  /** As in the template: `gatewayresponse.header.x-correlator` from `method.request.header.x-correlator`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly template: string;
}

/** An API as API Gateway knows it. All media types are binary. */
export interface RestApi {
  readonly id: string;
  readonly stage: string;
  /** The minimum size of compressed responses; undefined if none are compressed. */
  readonly minCompressionBytes: number | undefined;
  readonly routes: readonly Route[];
  readonly authorizers: readonly AuthorizerDefinition[];
  readonly responses: readonly DeclaredResponse[];
}

/**
 * Reads the REST API of a template, which must have exactly one.
 * @throws {Error} naming a method or an authorizer of a kind that is not supported locally, or whose role may not invoke
 * its function.
 */
export function readRestApi(resources: Resources, functions: readonly LocalFunction[]): RestApi {
  const logicalId = theOne(resources, "AWS::ApiGateway::RestApi");
  const { MinimumCompressionSize } = resources.properties(logicalId, restApiSchema, [
    "Description",
    "DisableExecuteApiEndpoint",
    "EndpointConfiguration",
    "Name",
    "SecurityPolicy",
  ]);
  const id = resources.names(logicalId).ref;
  const { StageName } = resources.properties(theOne(resources, "AWS::ApiGateway::Stage"), stageSchema, [
    "AccessLogSetting",
    "DeploymentId",
    "MethodSettings",
    "RestApiId",
    "TracingEnabled",
  ]);
  const paths = readPaths(resources, id);
  return {
    id,
    stage: StageName,
    minCompressionBytes: MinimumCompressionSize,
    routes: resources
      .ofType("AWS::ApiGateway::Method")
      .map((method) => readRoute(resources, functions, method, paths)),
    authorizers: resources
      .ofType("AWS::ApiGateway::Authorizer")
      .map((authorizer) => readAuthorizer(resources, functions, authorizer)),
    responses: resources
      .ofType("AWS::ApiGateway::GatewayResponse")
      .map((response) => readGatewayResponse(resources, response)),
  };
}

function theOne(resources: Resources, type: string): string {
  const [logicalId, ...others] = resources.ofType(type);
  if (logicalId === undefined || others.length > 0) throw new Error(`The template must have one ${type}`);
  return logicalId;
}

/** Paths by resource id. */
function readPaths(resources: Resources, restApiId: string): ReadonlyMap<string, string> {
  const segments = new Map(
    resources
      .ofType("AWS::ApiGateway::Resource")
      .map((logicalId) => [
        resources.names(logicalId).ref,
        resources.properties(logicalId, resourceSchema, ["RestApiId"]),
      ]),
  );
  const root = rootResourceId(restApiId);
  const pathOf = (id: string): string => {
    if (id === root) return "";
    const segment = segments.get(id);
    if (segment === undefined) throw new Error(`The API has no resource ${id}`);
    return `${pathOf(segment.ParentId)}/${segment.PathPart}`;
  };
  const paths = new Map([...segments.keys()].map((id) => [id, pathOf(id)]));
  return paths.set(root, "/");
}

function readRoute(
  resources: Resources,
  functions: readonly LocalFunction[],
  logicalId: string,
  paths: ReadonlyMap<string, string>,
): Route {
  const method = resources.properties(logicalId, methodSchema, ["RestApiId"]);
  const path = paths.get(method.ResourceId);
  if (path === undefined) throw new Error(`${logicalId} does not belong to a resource of the API`);
  if (method.AuthorizationType === "CUSTOM" && method.AuthorizerId === undefined) {
    throw new Error(`${logicalId} requires an authorizer but names none`);
  }
  const { Integration } = method;
  return {
    method: method.HttpMethod,
    path,
    resourceId: method.ResourceId,
    authorizerLogicalId: method.AuthorizationType === "CUSTOM" ? method.AuthorizerId : undefined,
    integration:
      Integration.Type === "MOCK"
        ? mockIntegration(logicalId, Integration, method.MethodResponses)
        : functionIntegration(resources, functions, logicalId, Integration),
  };
}

function functionIntegration(
  resources: Resources,
  functions: readonly LocalFunction[],
  logicalId: string,
  { Uri, Credentials, ResponseTransferMode, TimeoutInMillis }: z.output<typeof functionSchema>,
): FunctionIntegration {
  const arn = invokedArn(logicalId, Uri, ResponseTransferMode);
  if (Credentials !== undefined) requireInvoker(resources, logicalId, Credentials, arn);
  return {
    functionLogicalId: calledFunction(functions, logicalId, arn).logicalId,
    timeoutMilliseconds: TimeoutInMillis,
    isStreamed: ResponseTransferMode === "STREAM",
  };
}

function readAuthorizer(
  resources: Resources,
  functions: readonly LocalFunction[],
  logicalId: string,
): AuthorizerDefinition {
  const authorizer = resources.properties(logicalId, authorizerSchema, ["Name", "RestApiId"]);
  const { AuthorizerCredentials } = authorizer;
  const arn = invokedArn(logicalId, authorizer.AuthorizerUri, "BUFFERED");
  if (AuthorizerCredentials !== undefined) requireInvoker(resources, logicalId, AuthorizerCredentials, arn);
  return {
    logicalId,
    functionLogicalId: calledFunction(functions, logicalId, arn).logicalId,
    headerName: authorizer.IdentitySource.slice("method.request.header.".length),
    validationExpression: new RegExp(authorizer.IdentityValidationExpression),
    cacheSeconds: authorizer.AuthorizerResultTtlInSeconds,
  };
}

function readGatewayResponse(resources: Resources, logicalId: string): DeclaredResponse {
  const declared = resources.properties(logicalId, gatewayResponseSchema, ["RestApiId"]);
  return {
    responseType: declared.ResponseType,
    status: declared.StatusCode,
    parameters: declared.ResponseParameters,
    template: declared.ResponseTemplates["application/json"],
  };
}

/**
 * What an integration's URI ends with: `…:lambda:path/2015-03-31/functions/<ARN>/invocations`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
const invocationPaths = {
  BUFFERED: /\bpath\/2015-03-31\/functions\/([^/]+)\/invocations$/,
  STREAM: /\bpath\/2021-11-15\/functions\/([^/]+)\/response-streaming-invocations$/,
} as const;

/** The ARN of the function, or of its alias, that an integration invokes. */
function invokedArn(logicalId: string, uri: string, mode: keyof typeof invocationPaths): string {
  const arn = invocationPaths[mode].exec(uri)?.[1];
  if (arn === undefined)
    throw new Error(`${logicalId} cannot call ${uri} with response transfer mode ${mode}`);
  return arn;
}
