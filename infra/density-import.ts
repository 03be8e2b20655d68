import { join } from "node:path";
import { ArnFormat, Duration, RemovalPolicy, Stack, type StackProps, Token, Validations } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { CfnStateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { tables } from "../functions/areas.ts";
import { bucketVariable, metricNamespaceVariable } from "../shared/environment.ts";
import { tableVariable } from "../shared/table.ts";
import { alarmTopicOf } from "./alarm-topic.ts";
import { constructIdOf } from "./bundles.ts";
import { ServiceAlarm } from "./constructs/service-alarm.ts";
import { ServiceFunction } from "./constructs/service-function.ts";
import { ServiceLog } from "./constructs/service-log.ts";
import { ServiceRole } from "./constructs/service-role.ts";
import { tableArnsOf } from "./data.ts";
import { densityImportDefinition } from "./density-import-definition.ts";
import { type OptionalFunctionId, optionalFunctionRecords } from "./functions.ts";
import { outputNames } from "./output-names.ts";
import { addOutput } from "./outputs.ts";
import { restarted } from "./service-functions.ts";
import type { Settings } from "./settings.ts";
import { stages } from "./stage.ts";
import type { TableNames } from "./table-names.ts";
import { configuration } from "./variables.ts";

interface DensityImportProps extends StackProps {
  /** The folder with the bundles. */
  readonly bundles: string;
  readonly settings: Settings;
  /** Key of the stack with the tables; it encrypts the bucket. */
  readonly dataKey: IKey;
  readonly tableNames: TableNames;
}

const importId = "population-density/import-densities" satisfies OptionalFunctionId;

/**
 * Imports the densities of a country: a bucket for files of counted people, a state machine that maps over them, and
 * the function that does each of its steps.
 */
export class DensityImportStack extends Stack {
  constructor(scope: ConstructorParameters<typeof Stack>[0], id: string, props: DensityImportProps) {
    const { bundles, settings, dataKey, tableNames, ...others } = props;
    super(scope, id, others);
    const bucket = addBucket(this, dataKey);
    const made = addImportFunction(this, { bundles, settings, tableNames, bucket });
    permitObjects(made.role, bucket, dataKey, ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"]);
    const machine = addStateMachine(this, made, bucket, dataKey, settings);
    addOutput(this, outputNames.densityImportBucket, bucket.bucketName);
    addOutput(this, outputNames.densityImportStateMachine, machine.ref);
  }
}

/** It holds counts below the threshold: files are deleted after a month, and what executions leave after three days. */
function addBucket(scope: DensityImportStack, key: IKey): Bucket {
  const bucket = new Bucket(scope, "Bucket", {
    encryption: BucketEncryption.KMS,
    encryptionKey: key,
    bucketKeyEnabled: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    // CloudFormation deletes a bucket only when it is empty.
    removalPolicy: RemovalPolicy.DESTROY,
    lifecycleRules: [
      { prefix: "executions/", expiration: Duration.days(3) },
      { expiration: Duration.days(30), abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
  });
  Validations.of(bucket).acknowledge({
    id: "AwsSolutions-S1",
    reason:
      "Nobody but operators and one function uses it, for days: a log of every request would be larger " +
      "than what it holds. CloudTrail's data events can be switched on for it.",
  });
  return bucket;
}

interface ImportFunctionProps extends Pick<DensityImportProps, "bundles" | "settings" | "tableNames"> {
  readonly bucket: Bucket;
}

function addImportFunction(
  scope: DensityImportStack,
  { bundles, settings, tableNames, bucket }: ImportFunctionProps,
): ServiceFunction {
  const {
    tables: granted = {},
    variables = [],
    timeoutSeconds,
    memoryMegabytes,
    diskMegabytes,
  } = optionalFunctionRecords[importId];
  const configured = (name: keyof typeof configuration) =>
    settings.configuration[name] ?? configuration[name].default;
  const names = ["LOG_LEVEL", ...variables].filter(
    (name): name is keyof typeof configuration => name in configuration,
  );
  const named = tables.filter(({ name }) => granted[name] !== undefined);
  const made = new ServiceFunction(scope, constructIdOf(importId), {
    bundle: join(bundles, importId),
    description: importId,
    environment: {
      ...Object.fromEntries(names.map((name) => [name, configured(name)])),
      [metricNamespaceVariable]: scope.stackName,
      ...Object.fromEntries(named.map((table) => [tableVariable(table), tableNames[table.name][0]])),
      ...restarted(settings),
      [bucketVariable]: bucket.bucketName,
    },
    traits: stages[settings.stage],
    traced: settings.traced,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(memoryMegabytes === undefined ? {} : { memoryMegabytes }),
    ...(diskMegabytes === undefined ? {} : { diskMegabytes }),
  });
  const arns = tableArnsOf(scope, tableNames);
  for (const { name } of named) {
    made.addToRolePolicy(
      new PolicyStatement({
        actions: (granted[name] ?? []).map((action) => `dynamodb:${action}`),
        resources: [...arns[name]],
      }),
    );
  }
  return made;
}

/** Region and account of a stack, as AWS Solutions names them. */
function placeOf({ region, account }: Stack): string {
  const [ofRegion, ofAccount] = [
    Token.isUnresolved(region) ? "<AWS::Region>" : region,
    Token.isUnresolved(account) ? "<AWS::AccountId>" : account,
  ];
  return `${ofRegion}:${ofAccount}`;
}

/** Permits to use the objects of a bucket, and its key through S3 alone. */
function permitObjects(role: ServiceRole, bucket: Bucket, key: IKey, actions: string[]): void {
  const permit = (statement: PolicyStatement) => void role.addToPolicy(statement);
  permit(new PolicyStatement({ actions: ["s3:ListBucket"], resources: [bucket.bucketArn] }));
  permit(new PolicyStatement({ actions, resources: [bucket.arnForObjects("*")] }));
  permit(
    new PolicyStatement({
      actions: ["kms:Decrypt", "kms:GenerateDataKey"],
      resources: [key.keyArn],
      conditions: { StringEquals: { "kms:ViaService": `s3.${Stack.of(bucket).region}.amazonaws.com` } },
    }),
  );
  Validations.of(role).acknowledge({
    id: "AwsSolutions-IAM5[Resource::<Bucket83908E77.Arn>/*]",
    reason:
      "Names of files and of executions are not known before there are any; the bucket is for imports alone.",
  });
}

function addStateMachine(
  scope: DensityImportStack,
  made: ServiceFunction,
  bucket: Bucket,
  key: IKey,
  settings: Settings,
): CfnStateMachine {
  const traits = stages[settings.stage];
  const stateMachineName = scope.stackName;
  const arnOf = (resource: string, resourceName: string) =>
    scope.formatArn({ service: "states", resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  const role = new ServiceRole(scope, "StateMachineRole", "states.amazonaws.com");
  const permit = (actions: string[], ...resources: string[]) =>
    role.addToPolicy(new PolicyStatement({ actions, resources }));
  const { functionArn } = made.currentVersion;
  // An execution uses the version that it started with, even if another one is deployed before it ends.
  permit(["lambda:InvokeFunction"], `${made.functionArn}:*`);
  permitObjects(role, bucket, key, ["s3:GetObject"]);
  // https://docs.aws.amazon.com/step-functions/latest/dg/iam-policies-eg-dist-map.html
  permit(["states:StartExecution"], arnOf("stateMachine", stateMachineName));
  permit(["states:DescribeExecution", "states:StopExecution"], arnOf("execution", `${stateMachineName}:*`));
  // https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html
  const delivery = ["Create", "Get", "Update", "Delete"].map((verb) => `logs:${verb}LogDelivery`);
  const policies = [
    "ListLogDeliveries",
    "PutResourcePolicy",
    "DescribeResourcePolicies",
    "DescribeLogGroups",
  ];
  permit([...delivery, ...policies.map((action) => `logs:${action}`)], "*");
  if (settings.traced) {
    const tracing = ["PutTraceSegments", "PutTelemetryRecords", "GetSamplingRules", "GetSamplingTargets"];
    permit(
      tracing.map((action) => `xray:${action}`),
      "*",
    );
  }
  Validations.of(role).acknowledge(
    {
      id: "AwsSolutions-IAM5[Resource::*]",
      reason: "AWS takes no other resource for the delivery of logs of a state machine and for its traces.",
    },
    {
      id: `AwsSolutions-IAM5[Resource::<${scope.getLogicalId(made.node.defaultChild as CfnFunction)}.Arn>:*]`,
      reason: "The versions of one function, of which executions may still use an earlier one.",
    },
    {
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:${placeOf(scope)}:execution:${stateMachineName}:*]`,
      reason: "A map starts executions of this state machine, whose names Step Functions makes.",
    },
  );
  // Logs with this prefix add nothing to the account's policy for logs, which is limited to 5,120 characters.
  const log = new ServiceLog(scope, "StateMachineLogs", traits, `/aws/vendedlogs/states/${stateMachineName}`);
  const machine = new CfnStateMachine(scope, "StateMachine", {
    stateMachineName,
    roleArn: role.roleArn,
    definitionString: scope.toJsonString(
      densityImportDefinition({ partition: scope.partition, functionArn, bucketName: bucket.bucketName }),
    ),
    loggingConfiguration: {
      level: "ALL",
      includeExecutionData: false,
      destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: log.logGroupArn } }],
    },
    tracingConfiguration: { enabled: settings.traced },
  });
  machine.node.addDependency(role);
  if (!settings.traced) {
    const reason = "Traces have a price, and hold addresses and URLs: `-c tracing=true` switches them on.";
    Validations.of(machine).acknowledge({ id: "AwsSolutions-SF2", reason });
  }
  addAlarms(scope, machine, settings);
  return machine;
}

function addAlarms(scope: DensityImportStack, machine: CfnStateMachine, settings: Settings): void {
  const topic = alarmTopicOf(scope, settings);
  for (const [name, impact] of [
    [
      "ExecutionsFailed",
      "An import of densities was refused or has failed: callers get older densities, or none. " +
        "`ncs import density` says why.",
    ],
    [
      "ExecutionsTimedOut",
      "An import of densities has taken half a day: some tiles have new densities and others old ones. Repeat it.",
    ],
  ] as const) {
    const dimensionsMap = { StateMachineArn: machine.ref };
    const metric = new Metric({ namespace: "AWS/States", metricName: name, dimensionsMap, statistic: "sum" });
    new ServiceAlarm(scope, name, { metric, threshold: 1, impact, topic });
  }
}
