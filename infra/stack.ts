import { join } from "node:path";
import { CfnOutput, Duration, Stack, type StackProps, Validations } from "aws-cdk-lib";
import {
  AuthorizationType,
  LambdaIntegration,
  type Method,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as LambdaTarget } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { EventSourceMapping, type IFunction } from "aws-cdk-lib/aws-lambda";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { endpoints, type TableName, tables } from "../functions/areas.ts";
import { type Endpoint, pathsOf } from "../shared/endpoint.ts";
import { configuration, type VariableName } from "../shared/environment.ts";
import {
  maxWorkers,
  type QueueName,
  queueDescription,
  queues,
  queueVariable,
  visibilitySeconds,
  workerSeconds,
} from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { access, type FunctionId } from "./access.ts";
import { addAlarms, addFaultAlarms } from "./alarms.ts";
import { constructName, functionIds } from "./bundles.ts";
import { CustomDomain } from "./constructs/custom-domain.ts";
import { Firewall } from "./constructs/firewall.ts";
import { Releases } from "./constructs/releases.ts";
import { ServiceApi } from "./constructs/service-api.ts";
import { ServiceFunction } from "./constructs/service-function.ts";
import { ServiceQueue } from "./constructs/service-queue.ts";
import { ServiceTable } from "./constructs/service-table.ts";
import { rotate, type SecretReference, signingKeySecret } from "./constructs/signing-key.ts";
import { addDashboard } from "./dashboard.ts";
import { queueOutput, signingKeyOutput, tableOutput } from "./outputs.ts";
import type { Settings } from "./settings.ts";
import { removalPolicyIn, type StageTraits, stages, type Throttling } from "./stage.ts";

interface NetworkCapabilitiesProps extends StackProps {
  /** The folder with the bundles: what is deployed, and what a local run executes. */
  readonly bundles: string;
  readonly settings: Settings;
}

const rotation = "keys/rotate" satisfies FunctionId;
const login = "profile/authenticate" satisfies FunctionId;

/** What a function gets beyond the house defaults. */
const sizes: Readonly<Partial<Record<FunctionId, { timeoutSeconds?: number; memoryMegabytes?: number }>>> = {
  [rotation]: { timeoutSeconds: 30 },
  "population-density/retrieve": { memoryMegabytes: 1_024 },
  "population-density/deliver": { timeoutSeconds: workerSeconds, memoryMegabytes: 1_024 },
  "population-density/fail": { timeoutSeconds: workerSeconds },
  "population-density/sweep": { timeoutSeconds: 30 },
};

/** A policy is kept per token for this long; functions check the token's expiry themselves. */
const authorizerCache = Duration.minutes(5);

/** Tokens of another form are refused by API Gateway without running the authorizer. */
const bearerToken = "^[Bb][Ee][Aa][Rr][Ee][Rr] +[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$";

/** Actions on a table that write. */
const changingActions = /^(?:Delete|Put|Update)Item$/;

/** What DynamoDB does with the key for whom it serves: when items are read, and beside that when they are written. */
const readingKey = ["Decrypt", "DescribeKey"];
const changingKey = ["Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"];

/** The whole service: tables, queues, signing key, one function per endpoint, authorizer, workers, API, alarms. */
export class NetworkCapabilitiesStack extends Stack {
  readonly #bundles: string;
  readonly #settings: Settings;
  readonly #traits: StageTraits;
  readonly #dataKey: Key;
  readonly #tables: Readonly<Record<TableName, ServiceTable>>;
  readonly #queues: Readonly<Record<QueueName, ServiceQueue>>;
  readonly #signingKey: SecretReference;

  constructor(scope: Construct, id: string, { bundles, settings, ...props }: NetworkCapabilitiesProps) {
    const traits = stages[settings.stage];
    super(scope, id, { ...props, terminationProtection: traits.keepsData });
    this.#bundles = bundles;
    this.#settings = settings;
    this.#traits = traits;
    this.#dataKey = new Key(this, "DataKey", {
      description: "Personal data, credentials and messages of the Network Capabilities Service",
      enableKeyRotation: true,
      // Without it, tables that stay could not be read.
      removalPolicy: removalPolicyIn(traits),
    });
    this.#tables = this.#makeTables();
    this.#queues = this.#makeQueues();
    this.#signingKey = signingKeySecret(this, settings.signingKeySecretArn, removalPolicyIn(traits));
    new CfnOutput(this, signingKeyOutput, { value: this.#signingKey.secretArn });
    // Who gives the secret rotates it.
    const isOurs = settings.signingKeySecretArn === undefined;
    const made = functionIds.filter((name) => isOurs || name !== rotation);
    const functions = Object.fromEntries(made.map((name) => [name, this.#makeFunction(name)])) as Record<
      FunctionId,
      ServiceFunction
    >;
    if (isOurs) rotate(this, this.#signingKey, functions[rotation]);

    const { alarmTopicArn } = settings;
    const topic =
      alarmTopicArn === undefined ? undefined : Topic.fromTopicArn(this, "AlarmTopic", alarmTopicArn);
    const live = this.#release(functions, topic);
    for (const name of made) {
      this.#addEventSource(name, functions[name], live(name));
      this.#addSchedule(name, live(name));
    }
    const api = this.#makeApi(live);
    const watched = {
      api,
      tables: this.#tables,
      queues: this.#queues,
      workers: made.filter((name) => access[name].consumes !== undefined).map((name) => functions[name]),
      sweep: functions["population-density/sweep"],
      ...(isOurs ? { rotation: functions[rotation] } : {}),
    };
    addAlarms(this, watched, topic);
    if (traits.dashboard) addDashboard(this, watched);
  }

  #makeTables(): Record<TableName, ServiceTable> {
    const made = tables.map((table) => {
      const { name } = table;
      const one = new ServiceTable(this, tableVariable(table), {
        table,
        traits: this.#traits,
        key: this.#dataKey,
      });
      new CfnOutput(this, tableOutput(table), { value: one.tableName });
      return [name, one];
    });
    return Object.fromEntries(made) as Record<TableName, ServiceTable>;
  }

  #makeQueues(): Record<QueueName, ServiceQueue> {
    const made: Partial<Record<QueueName, ServiceQueue>> = {};
    for (const name of Object.keys(queues) as QueueName[]) {
      const { deadLetters } = queueDescription(name);
      const queue = deadLetters && made[deadLetters.queue];
      if (deadLetters !== undefined && queue === undefined)
        throw new Error(`${name} comes before its dead letters`);
      const dead = queue && { deadLetters: { maxReceiveCount: deadLetters.maxReceiveCount, queue } };
      made[name] = new ServiceQueue(this, queueVariable(name), {
        key: this.#dataKey,
        visibilitySeconds,
        ...dead,
      });
      new CfnOutput(this, queueOutput(name), { value: made[name].queueUrl });
    }
    return made as Record<QueueName, ServiceQueue>;
  }

  /** What callers of a function call: an alias that shifts gradually, or the function. */
  #release(
    functions: Readonly<Record<FunctionId, ServiceFunction>>,
    topic: ITopic | undefined,
  ): (id: FunctionId) => IFunction {
    if (!this.#traits.releasesGradually) return (id) => functions[id];
    const releases = new Releases(this, "Releases", { atOnce: this.#settings.releasesAtOnce });
    const aliases: Partial<Record<FunctionId, IFunction>> = {};
    for (const id of functionIds) {
      // Secrets Manager runs the rotation, and does so again when it has failed.
      if (id === rotation) continue;
      aliases[id] = releases.add(functions[id], addFaultAlarms(this, id, functions[id], topic));
    }
    return (id) => aliases[id] ?? functions[id];
  }

  #makeApi(live: (id: FunctionId) => IFunction): ServiceApi {
    const { throttling, gatewayMayLog, domain, waf } = this.#settings;
    const api = new ServiceApi(this, "Api", {
      traits: this.#traits,
      throttling,
      methodThrottling: this.#loginThrottling(),
      gatewayMayLog,
      hasOwnHost: domain === undefined,
    });
    if (domain !== undefined) new CustomDomain(this, "Domain", api, domain);
    if (waf) new Firewall(this, "Firewall", api.deploymentStage);
    else {
      Validations.of(api.deploymentStage).acknowledge({
        id: "AwsSolutions-APIG3",
        reason:
          "A firewall costs by the month, and whoever has one elsewhere needs none here: `-c waf=true` puts one before the API. Without it there are the stage's throttling, the authorizer, the quota of each caller and the limits on logins.",
      });
    }
    const authorizer = new TokenAuthorizer(this, "Authorizer", {
      handler: live("authorizer/authorize"),
      resultsCacheTtl: authorizerCache,
      validationRegex: bearerToken,
    });
    for (const endpoint of endpoints) {
      const integration = new LambdaIntegration(live(endpoint.id), { allowTestInvoke: false });
      for (const path of pathsOf(endpoint)) {
        const method = api.root
          .resourceForPath(path)
          .addMethod(
            endpoint.method,
            integration,
            endpoint.scope === null
              ? { authorizationType: AuthorizationType.NONE }
              : { authorizationType: AuthorizationType.CUSTOM, authorizer },
          );
        acknowledgeAuthorization(method, endpoint);
      }
    }
    return api;
  }

  /** A login costs a second of an execution, so each of its paths has a rate far below that of the whole API. */
  #loginThrottling(): Record<string, Throttling> {
    const { throttling, reservedConcurrency } = this.#settings;
    const executions = reservedConcurrency[login] ?? this.#traits.loginExecutions;
    const ofLogin = {
      rate: Math.min(executions, throttling.rate),
      burst: Math.min(executions, throttling.burst),
    };
    const methods = endpoints
      .filter(({ id }) => id === login)
      .flatMap((endpoint) => pathsOf(endpoint).map((path) => `${path}/${endpoint.method}`));
    return Object.fromEntries(methods.map((method) => [method, ofLogin]));
  }

  /** A function with exactly the rights and the environment that `access` gives it. */
  #makeFunction(id: FunctionId): ServiceFunction {
    const { tables: granted = {}, signingKey, queues: used = {}, consumes, variables = [] } = access[id];
    const grantedTables = tables.filter(({ name }) => granted[name] !== undefined);
    const queueNames = Object.keys(used) as QueueName[];
    const reservedConcurrency = this.#settings.reservedConcurrency[id];
    const made = new ServiceFunction(this, constructName(id), {
      bundle: join(this.#bundles, id),
      description: id,
      environment: {
        LOG_LEVEL: this.#valueOf("LOG_LEVEL"),
        ...Object.fromEntries(
          grantedTables.map((table) => [tableVariable(table), this.#tables[table.name].tableName]),
        ),
        ...Object.fromEntries(queueNames.map((name) => [queueVariable(name), this.#queues[name].queueUrl])),
        ...Object.fromEntries(
          variables.map((name) => [name, this.#valueOf(name)]).filter(([, value]) => value !== ""),
        ),
      },
      traits: this.#traits,
      ...sizes[id],
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrency }),
    });
    for (const { name, index } of grantedTables) {
      const actions = (granted[name] ?? []).map((action) => `dynamodb:${action}`);
      const { tableArn } = this.#tables[name];
      made.addToRolePolicy(new PolicyStatement({ actions, resources: [tableArn] }));
      if (index === undefined || !granted[name]?.includes("Query")) continue;
      const resources = [`${tableArn}/index/${index.name}`];
      made.addToRolePolicy(new PolicyStatement({ actions: ["dynamodb:Query"], resources }));
    }
    if (signingKey !== undefined) {
      const actions = signingKey.map((action) => `secretsmanager:${action}`);
      made.addToRolePolicy(new PolicyStatement({ actions, resources: [this.#signingKey.secretArn] }));
    }
    for (const name of queueNames) {
      const actions = (used[name] ?? []).map((action) => `sqs:${action}`);
      made.addToRolePolicy(new PolicyStatement({ actions, resources: [this.#queues[name].queueArn] }));
    }
    const encrypted = grantedTables.filter(({ personalData }) => personalData);
    if (encrypted.length > 0) {
      const changes = encrypted.some(({ name }) =>
        granted[name]?.some((action) => changingActions.test(action)),
      );
      this.#permitKey(made, "dynamodb", changes ? [...readingKey, ...changingKey] : readingKey);
    }
    if (queueNames.length > 0 || consumes !== undefined) {
      this.#permitKey(made, "sqs", ["Decrypt", "GenerateDataKey"]);
    }
    return made;
  }

  /** The use of the key through a service alone: what the function may do there bounds what it may decrypt. */
  #permitKey(user: ServiceFunction, service: "dynamodb" | "sqs", operations: readonly string[]): void {
    user.addToRolePolicy(
      new PolicyStatement({
        actions: operations.map((operation) => `kms:${operation}`),
        resources: [this.#dataKey.keyArn],
        conditions: { StringEquals: { "kms:ViaService": `${service}.${this.region}.amazonaws.com` } },
      }),
    );
  }

  /** One message at a time: it may take as long as its worker has. */
  #addEventSource(id: FunctionId, worker: ServiceFunction, live: IFunction): void {
    const { consumes } = access[id];
    if (consumes === undefined) return;
    const queue = this.#queues[consumes];
    const actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
    worker.addToRolePolicy(new PolicyStatement({ actions, resources: [queue.queueArn] }));
    const mapping = new EventSourceMapping(this, `${constructName(id)}Messages`, {
      target: live,
      eventSourceArn: queue.queueArn,
      batchSize: 1,
      reportBatchItemFailures: true,
      maxConcurrency: maxWorkers,
    });
    mapping.node.addDependency(worker.role ?? worker);
  }

  /** A run that fails is not made again: the next one comes soon. */
  #addSchedule(id: FunctionId, live: IFunction): void {
    const { everyMinutes } = access[id];
    if (everyMinutes === undefined) return;
    new Rule(this, `${constructName(id)}Schedule`, {
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
      targets: [new LambdaTarget(live, { retryAttempts: 0 })],
    });
  }

  #valueOf(name: VariableName): string {
    if (name === "SIGNING_KEY_SECRET_ARN") return this.#signingKey.secretArn;
    if (name === "ROUTES_BY_SCOPE") return JSON.stringify(routesByScope(endpoints));
    return this.#settings.configuration[name] ?? configuration[name].default;
  }
}

function acknowledgeAuthorization(method: Method, { publicBecause }: Endpoint): void {
  const reason =
    publicBecause ??
    "Tokens are those of this service and of the operator's authorization servers; the authorizer verifies both. A Cognito user pool knows neither.";
  const rules = publicBecause === undefined ? ["COG4"] : ["APIG4", "COG4"];
  Validations.of(method).acknowledge(...rules.map((rule) => ({ id: `AwsSolutions-${rule}`, reason })));
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
