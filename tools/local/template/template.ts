import * as z from "zod";
import { type Assembly, readAssembly } from "./assembly.ts";
import { Intrinsics } from "./intrinsics.ts";
import type { PhysicalNames } from "./physical-names.ts";
import { type LocalEventSource, type LocalQueue, readEventSources, readQueues } from "./queues.ts";
import { type RestApi, type Route, readRestApi } from "./rest-api.ts";
import { type LocalSchedule, readSchedules } from "./schedules.ts";

const text = z.coerce.string();
const count = z.coerce.number().int().positive();

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Timeout: count.default(3),
  MemorySize: count.default(128),
  Environment: z.object({ Variables: z.record(z.string(), text).default({}) }).default({ Variables: {} }),
});

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));
const throughputSchema = z.object({ ReadCapacityUnits: count, WriteCapacityUnits: count });
const indexSchema = z.object({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.object({
    ProjectionType: z.enum(["ALL", "INCLUDE", "KEYS_ONLY"]).default("ALL"),
    NonKeyAttributes: z.array(z.string()).optional(),
  }),
});

const tableSchema = z.object({
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(["S", "N", "B"]) }),
  ),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(indexSchema.extend({ ProvisionedThroughput: throughputSchema.optional() }))
    .optional(),
  LocalSecondaryIndexes: z.array(indexSchema).optional(),
  BillingMode: z.enum(["PAY_PER_REQUEST", "PROVISIONED"]).default("PROVISIONED"),
  ProvisionedThroughput: throughputSchema.optional(),
});

const generatedSecretSchema = z.object({
  ExcludeCharacters: z.string().default(""),
  ExcludeLowercase: z.boolean().default(false),
  ExcludeNumbers: z.boolean().default(false),
  ExcludePunctuation: z.boolean().default(false),
  ExcludeUppercase: z.boolean().default(false),
  GenerateStringKey: z.string().optional(),
  IncludeSpace: z.boolean().default(false),
  PasswordLength: count.max(4096).default(32),
  RequireEachIncludedType: z.boolean().default(true),
  SecretStringTemplate: z.string().optional(),
});

const secretSchema = z.object({
  Name: z.string().optional(),
  SecretString: z.string().optional(),
  GenerateSecretString: generatedSecretSchema.optional(),
});

const rotationSchema = z.object({
  SecretId: z.string(),
  RotationLambdaARN: z.string().optional(),
  RotateImmediatelyOnUpdate: z.union([z.boolean(), z.stringbool()]).default(true),
});

/** A Lambda function of the template. */
export interface LocalFunction {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** The folder that would be deployed. */
  readonly assetDirectory: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** The variables of the template, before the shell overrides any. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A DynamoDB table of the template; `definition` holds the members that CreateTable takes. */
export interface LocalTable {
  readonly logicalId: string;
  readonly name: string;
  readonly definition: z.output<typeof tableSchema>;
}

/** How Secrets Manager makes up the value of a secret. */
export type GeneratedSecret = z.output<typeof generatedSecretSchema>;

/** A secret of the template; with neither a value nor a way to generate one it has no version yet. */
export interface LocalSecret {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly value: string | undefined;
  readonly generated: GeneratedSecret | undefined;
}

/** A secret whose rotation function runs as soon as the schedule is created. */
export interface LocalRotation {
  readonly secretArn: string;
  readonly functionLogicalId: string;
}

/** Everything of a synthesized template that has a meaning on this machine. */
export class Template {
  readonly functions: readonly LocalFunction[];
  readonly tables: readonly LocalTable[];
  readonly secrets: readonly LocalSecret[];
  readonly rotations: readonly LocalRotation[];
  readonly queues: readonly LocalQueue[];
  readonly eventSources: readonly LocalEventSource[];
  readonly schedules: readonly LocalSchedule[];
  readonly api: RestApi;
  readonly #assembly: Assembly;
  readonly #intrinsics: Intrinsics;

  /**
   * @param queueUrls by logical id, of queues that have been created.
   * @throws {Error} naming the resource that cannot be served locally.
   */
  constructor(assembly: Assembly, queueUrls: ReadonlyMap<string, string> = new Map()) {
    this.#assembly = assembly;
    this.#intrinsics = new Intrinsics(assembly.document, assembly.stackName, queueUrls);
    this.functions = this.logicalIds("AWS::Lambda::Function").map((id) => this.#readFunction(id));
    this.tables = this.logicalIds("AWS::DynamoDB::Table").map((logicalId) => ({
      logicalId,
      name: this.ref(logicalId),
      definition: this.properties(logicalId, tableSchema),
    }));
    this.secrets = this.logicalIds("AWS::SecretsManager::Secret").map((id) => this.#readSecret(id));
    this.rotations = this.logicalIds("AWS::SecretsManager::RotationSchedule").flatMap((id) =>
      this.#readRotation(id),
    );
    this.queues = readQueues(this);
    this.eventSources = readEventSources(this);
    this.schedules = readSchedules(this);
    this.api = readRestApi(this);
  }

  /** The same template after its queues have been created: where it names a queue, it names the created one. */
  withQueueUrls(queueUrls: ReadonlyMap<string, string>): Template {
    return new Template(this.#assembly, queueUrls);
  }

  /** @throws {Error} when the template has no such function. */
  functionOf(logicalId: string): LocalFunction {
    const found = this.functions.find((candidate) => candidate.logicalId === logicalId);
    if (found === undefined) throw new Error(`The template has no function ${logicalId}`);
    return found;
  }

  /** The function an ARN names, with or without a version or an alias. */
  functionOfArn(arn: string): LocalFunction | undefined {
    const unqualified = arn.split(":").slice(0, 7).join(":");
    return this.functions.find((candidate) => candidate.arn === unqualified);
  }

  /**
   * The function that a name or an ARN means; either may be partial and may have a version or an alias.
   * https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html
   */
  functionNamed(nameOrArn: string): LocalFunction | undefined {
    if (nameOrArn.startsWith("arn:")) return this.functionOfArn(nameOrArn);
    const [unqualified] = nameOrArn.replace(/^\d{12}:function:/, "").split(":");
    return this.functions.find(({ name }) => name === unqualified);
  }

  /** @throws {Error} when the template has no such queue. */
  queueOf(logicalId: string): LocalQueue {
    const found = this.queues.find((candidate) => candidate.logicalId === logicalId);
    if (found === undefined) throw new Error(`The template has no queue ${logicalId}`);
    return found;
  }

  /** The folder a function is deployed from. */
  assetDirectoryOf(logicalId: string): string {
    return this.functionOf(logicalId).assetDirectory;
  }

  /** The routes that call a function; empty for an authorizer or a rotation function. */
  routesOf(logicalId: string): readonly Route[] {
    return this.api.routes.filter((route) => route.functionLogicalId === logicalId);
  }

  /** Resources of a type whose condition, if any, holds. */
  logicalIds(type: string): readonly string[] {
    return Object.entries(this.#assembly.document.Resources)
      .filter(([, { Type }]) => Type === type)
      .filter(([, { Condition }]) => Condition === undefined || this.#intrinsics.condition(Condition))
      .map(([logicalId]) => logicalId);
  }

  /** The members of a resource's properties that the schema names, resolved. */
  properties<Shape extends z.ZodRawShape>(logicalId: string, schema: z.ZodObject<Shape>) {
    const declared = this.#assembly.document.Resources[logicalId]?.Properties ?? {};
    const wanted = Object.entries(declared).filter(([name]) => name in schema.shape);
    const parsed = schema.safeParse(this.#intrinsics.resolve(Object.fromEntries(wanted), logicalId));
    if (!parsed.success) throw new Error(`${logicalId} is malformed: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  }

  /** What `Ref` of a resource gives. */
  ref(logicalId: string): string {
    return this.names(logicalId).ref;
  }

  /** What `Ref` and `Fn::GetAtt` of a resource give. */
  names(logicalId: string): PhysicalNames {
    return this.#intrinsics.names(logicalId, logicalId);
  }

  #readFunction(logicalId: string): LocalFunction {
    const { Code, Handler, Timeout, MemorySize, Environment } = this.properties(logicalId, functionSchema);
    const assetDirectory = this.#assembly.assetDirectories.get(Code.S3Key);
    if (assetDirectory === undefined) throw new Error(`${logicalId} has no asset folder in the assembly`);
    const names = this.names(logicalId);
    return {
      logicalId,
      name: names.ref,
      arn: names.attributes.Arn ?? "",
      assetDirectory,
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMegabytes: MemorySize,
      environment: Environment.Variables,
    };
  }

  #readSecret(logicalId: string): LocalSecret {
    const { Name, SecretString, GenerateSecretString } = this.properties(logicalId, secretSchema);
    return {
      logicalId,
      name: Name ?? logicalId,
      arn: this.ref(logicalId),
      value: SecretString,
      generated: GenerateSecretString,
    };
  }

  #readRotation(logicalId: string): readonly LocalRotation[] {
    const { SecretId, RotationLambdaARN, RotateImmediatelyOnUpdate } = this.properties(
      logicalId,
      rotationSchema,
    );
    const rotating = RotationLambdaARN === undefined ? undefined : this.functionOfArn(RotationLambdaARN);
    if (rotating === undefined || !RotateImmediatelyOnUpdate) return [];
    return [{ secretArn: SecretId, functionLogicalId: rotating.logicalId }];
  }
}

/** Reads the template of a cloud assembly. */
export function loadTemplate(assembly: string): Template {
  return new Template(readAssembly(assembly));
}
