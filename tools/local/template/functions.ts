/**
 * The functions of a template.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
 */
import * as z from "zod";
import type { Resources } from "./resources.ts";

const count = z.coerce.number().int().positive();

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Timeout: count,
  MemorySize: count.default(128),
  ReservedConcurrentExecutions: count.optional(),
  Environment: z
    .object({ Variables: z.record(z.string(), z.string()).default({}) })
    .default({ Variables: {} }),
});

const irrelevant = ["Architectures", "Description", "LoggingConfig", "Role", "Runtime", "TracingConfig"];

/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib */
const initializationSeconds = 10;

/** A Lambda function of the template. */
export interface LocalFunction {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** The folder that would be deployed. */
  readonly assetDirectory: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  /** How long it may take to load its handler. */
  readonly initializationSeconds: number;
  readonly memoryMegabytes: number;
  /** Lambda refuses more concurrent events than this. */
  readonly reservedConcurrency: number | undefined;
  /** The variables of the template, before the shell overrides any. */
  readonly environment: Readonly<Record<string, string>>;
}

/** @param assetDirectories folders by their keys in the bucket. */
export function readFunctions(
  resources: Resources,
  assetDirectories: ReadonlyMap<string, string>,
): readonly LocalFunction[] {
  return resources.ofType("AWS::Lambda::Function").map((logicalId) => {
    const { Code, Handler, Timeout, MemorySize, ReservedConcurrentExecutions, Environment } =
      resources.properties(logicalId, functionSchema, irrelevant);
    const assetDirectory = assetDirectories.get(Code.S3Key);
    if (assetDirectory === undefined) throw new Error(`${logicalId} has no asset folder in the assembly`);
    const { ref, attributes } = resources.names(logicalId);
    return {
      logicalId,
      name: ref,
      arn: attributes.Arn ?? "",
      assetDirectory,
      handler: Handler,
      timeoutSeconds: Timeout,
      initializationSeconds,
      memoryMegabytes: MemorySize,
      reservedConcurrency: ReservedConcurrentExecutions,
      environment: Environment.Variables,
    };
  });
}

/**
 * The function that a resource invokes.
 * @param nameOrArn either may have an alias at its end.
 * @throws {Error} if it is not a function of the template.
 */
export function calledFunction(
  functions: readonly LocalFunction[],
  caller: string,
  nameOrArn: string,
): LocalFunction {
  const parts = nameOrArn.split(":");
  const unqualified = parts.slice(0, nameOrArn.startsWith("arn:") ? 7 : 1).join(":");
  const called = functions.find(({ name, arn }) => unqualified === name || unqualified === arn);
  if (called === undefined)
    throw new Error(`${caller} calls ${nameOrArn}, which is not a function of the template`);
  return called;
}
