/**
 * Maximum of concurrent executions of the function in one map. The more there are, the more they write to the table.
 */
export const tasksAtOnce = 40;

/** The longest that a Lambda function may run, and a little more. */
const taskSeconds = 930;

/** A throttled function or table, and a function that AWS has ended, may do better a minute later. */
const retry = [
  { ErrorEquals: ["ImportError"], MaxAttempts: 0 },
  {
    ErrorEquals: ["States.ALL"],
    IntervalSeconds: 2,
    BackoffRate: 2,
    MaxAttempts: 7,
    MaxDelaySeconds: 60,
    JitterStrategy: "FULL",
  },
];

/** What the definition refers to; names are only known when it is deployed. */
export interface ImportResources {
  /** `aws` in most regions. */
  readonly partition: string;
  /** The version of the function that an execution uses from its start to its end. */
  readonly functionArn: string;
  readonly bucketName: string;
}

/** Calls the function with a step of the whole import. */
function task({ partition, functionArn }: ImportResources, step: string) {
  return {
    Type: "Task",
    Resource: `arn:${partition}:states:::lambda:invoke`,
    Parameters: { FunctionName: functionArn, Payload: { step, "order.$": "$" } },
    TimeoutSeconds: taskSeconds,
    Retry: retry,
  };
}

/** Calls the function with a step for each item of a list in S3. Its results are empty, so they stay small together. */
function map(
  { partition, functionArn }: ImportResources,
  name: string,
  reader: Record<string, unknown>,
  selector: Record<string, unknown>,
) {
  return {
    Type: "Map",
    Label: name,
    ItemReader: reader,
    ItemSelector: { ...selector, "order.$": "$" },
    ItemProcessor: {
      ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
      StartAt: `${name}Item`,
      States: {
        [`${name}Item`]: {
          Type: "Task",
          Resource: `arn:${partition}:states:::lambda:invoke`,
          Parameters: { FunctionName: functionArn, "Payload.$": "$" },
          OutputPath: "$.Payload",
          TimeoutSeconds: taskSeconds,
          Retry: retry,
          End: true,
        },
      },
    },
    MaxConcurrency: tasksAtOnce,
    ResultPath: null,
  };
}

/** For each prefix that the plan has listed. */
function mapPrefixes(resources: ImportResources, name: string, step: string) {
  const { partition, bucketName } = resources;
  const reader = {
    Resource: `arn:${partition}:states:::s3:getObject`,
    ReaderConfig: { InputType: "JSON" },
    Parameters: { Bucket: bucketName, "Key.$": "States.Format('executions/{}/prefixes.json', $.id)" },
  };
  return map(resources, name, reader, { step, "prefix.$": "$$.Map.Item.Value.prefix" });
}

const isRefused = (next: string) => [{ Variable: "$.checked.result.refused", IsPresent: true, Next: next }];

/** On any error, `withdrawDays` lets others store the days that were begun. */
const failed = [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: "FailImport" }];

/**
 * The state machine of the distributed import, in the Amazon States Language. Its input is an `ImportOrder`. Nothing is
 * written to the table before `BeginImport`.
 */
export function densityImportDefinition(to: ImportResources) {
  const { partition, bucketName } = to;
  return {
    Comment: "Imports files of counted people as densities",
    StartAt: "ReadFiles",
    TimeoutSeconds: 43_200,
    States: {
      ReadFiles: {
        ...map(
          to,
          "ReadFiles",
          {
            Resource: `arn:${partition}:states:::s3:listObjectsV2`,
            Parameters: { Bucket: bucketName, "Prefix.$": "$.prefix" },
          },
          {
            step: "read",
            "key.$": "$$.Map.Item.Value.Key",
            "size.$": "$$.Map.Item.Value.Size",
            "index.$": "$$.Map.Item.Index",
          },
        ),
        Next: "PlanImport",
      },
      PlanImport: {
        ...task(to, "plan"),
        ResultSelector: { "result.$": "$.Payload" },
        ResultPath: "$.checked",
        Next: "IsPlanned",
      },
      IsPlanned: { Type: "Choice", Choices: isRefused("Refused"), Default: "CheckPrefixes" },
      CheckPrefixes: { ...mapPrefixes(to, "CheckPrefixes", "check"), Next: "BeginImport" },
      BeginImport: {
        ...task(to, "begin"),
        ResultSelector: { "result.$": "$.Payload" },
        ResultPath: "$.checked",
        Catch: failed,
        Next: "IsBegun",
      },
      IsBegun: { Type: "Choice", Choices: isRefused("Refused"), Default: "StorePrefixes" },
      Refused: { Type: "Fail", Error: "ImportError", CausePath: "$.checked.result.refused" },
      StorePrefixes: { ...mapPrefixes(to, "StorePrefixes", "store"), Catch: failed, Next: "FinishImport" },
      FinishImport: { ...task(to, "finish"), OutputPath: "$.Payload", Catch: failed, End: true },
      FailImport: {
        ...task(to, "fail"),
        ResultSelector: { "result.$": "$.Payload" },
        ResultPath: "$.checked",
        Next: "Failed",
      },
      Failed: { Type: "Fail", Error: "ImportFailed", CausePath: "$.checked.result.refused" },
    },
  };
}
