/** What somebody who reviews a digest could miss; the digests hold the rest. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints, type TableName, tables } from "../../functions/areas.ts";
import { dataSetKey } from "../../functions/population-density/tiles/data-set-store.ts";
import { functionIds } from "../../infra/bundles.ts";
import {
  bundledRecords,
  type FunctionId,
  type FunctionRecord,
  functionDefaults,
  functionRecords,
} from "../../infra/functions.ts";
import { tableOutput } from "../../infra/output-names.ts";
import { stages } from "../../infra/stage.ts";
import { type QueueName, queueDescription, queues, visibilitySeconds } from "../../shared/sqs/queues.ts";
import type { Table } from "../../shared/table.ts";
import { SINK_RETRY_SECONDS } from "../../shared/variables/sink-retry-seconds.ts";
import { policiesOf } from "../../tools/cli/grants.ts";
import { everySetting, type SharedName, someSettings } from "./shared-templates.ts";
import {
  attribute,
  configured,
  deployed,
  eachStage,
  functionIdsOf,
  functionOf,
  only,
  parseOne,
  reference,
  resourcesOf,
  sharedFolder,
  sharedTemplate,
  statementsOf,
  type Template,
  tableNameOf,
  tableOf,
  textOf,
  texts,
} from "./template.ts";

const declared: readonly Table<unknown, TableName>[] = tables;

/** Functions for whose answer API Gateway waits, for 29 seconds. */
const awaited: readonly FunctionId[] = [
  ...[...endpoints, ...protocolEndpoints].map(({ id }) => id),
  "authorizer/authorize",
];

/** The longest a function may run: nobody waits for a worker, but its lease on a job lasts 330 seconds. */
function maxSeconds(id: FunctionId): number {
  if (awaited.includes(id)) return 28;
  return functionRecords[id].consumes === undefined ? 30 : 300;
}

test("functions that API Gateway waits for time out after at most 28 s, queue consumers after 300 s, all others after 30 s", () => {
  const longer = functionIds.filter((id) => {
    const { timeoutSeconds = functionDefaults.timeoutSeconds } = functionRecords[id];
    return timeoutSeconds > maxSeconds(id);
  });
  expect(longer).toEqual([]);
});

describe.each(eachStage)("rights of %s", (stage, from) => {
  const statements = policiesOf(from).flatMap((policy) => policy.statements);

  test(`IAM policies of ${stage} only allow, and allow no Scan and no action with a wildcard`, () => {
    const isNarrow = ({ Action, Effect }: (typeof statements)[number]) =>
      Effect === "Allow" && !Action.some((action) => /\*|Scan$/.test(action));
    expect(statements.length).toBeGreaterThanOrEqual(functionIdsOf[stage].length);
    expect(statements.filter((statement) => !isNarrow(statement))).toEqual([]);
  });

  test(`IAM policies of ${stage} have no resource with a wildcard except where AWS requires one`, () => {
    const wide = statements.filter(({ Resource }) =>
      Resource.map(textOf).some((resource) => resource.includes("*")),
    );
    expect([...new Set(wide.flatMap(({ Action }) => Action))].sort()).toEqual(
      stage === "dev"
        ? []
        : [
            "cloudwatch:DescribeAlarms",
            // Numbers of versions are not known before there is one.
            "lambda:GetAlias",
            "lambda:GetProvisionedConcurrencyConfig",
            "lambda:InvokeFunction",
            "lambda:UpdateAlias",
          ],
    );
    const everything = wide.filter(({ Resource }) => Resource.includes("*")).flatMap(({ Action }) => Action);
    expect(everything.filter((action) => action.startsWith("lambda:"))).toEqual([]);
  });

  test(`the template of ${stage} has no address or credentials of a local run, and no SINK_ALLOWED_NETWORKS`, () => {
    // The template that tests run is that of a local run.
    const text = JSON.stringify(stage === "dev" ? sharedTemplate("deployedDev") : from);
    expect(text).not.toMatch(
      /AWS_ENDPOINT_URL|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|SINK_ALLOWED_NETWORKS|127\.0\.0\.1|localhost/,
    );
  });
});

/** What records grant, a line for each function. */
const grants = (what: (record: FunctionRecord) => readonly unknown[] | undefined) =>
  functionIds.flatMap((id) => {
    const granted = what(functionRecords[id]);
    return granted === undefined || granted.length === 0 ? [] : [`${id}: ${granted.join(" ")}`];
  });

describe("grants of records", () => {
  test("the sweep is granted GetItem on one item of the densities table, which has the last observed day", () => {
    const { tables, partitions } = functionRecords["population-density/sweep"];
    expect({ actions: tables?.densities, partitions }).toEqual({
      actions: ["GetItem"],
      partitions: { densities: [dataSetKey.tile] },
    });
  });

  test("only the login, the token endpoint and the key rotation are granted the private signing key", () => {
    expect(grants(({ signingKey }) => signingKey?.filter((one) => one === "GetSecretValue"))).toEqual([
      "profile/authenticate: GetSecretValue",
      "oauth2/token: GetSecretValue",
      "keys/rotate: GetSecretValue",
    ]);
  });

  test("functions are granted single pseudonym keys, which they cannot replace; retrieve-ppid alone is granted that of devices", () => {
    const ofKeys = functionIds
      .map((id) => functionRecords[id])
      .filter((one) => one.tables?.["pseudonym-keys"]);
    const actions = ofKeys.flatMap(({ tables: used }) => used?.["pseudonym-keys"] ?? []);
    expect(new Set(actions)).toEqual(new Set(["GetItem", "PartiQLInsert"]));
    expect(ofKeys.filter(({ partitions }) => !partitions?.["pseudonym-keys"]?.length)).toEqual([]);
    expect(
      grants(({ partitions }) => partitions?.["pseudonym-keys"]?.filter((use) => use === "device-ppids")),
    ).toEqual(["device-identifier/retrieve-ppid: device-ppids"]);
  });

  test("functions may only insert access records: none is granted to read, change or delete them", () => {
    const actions = functionIds.flatMap((id) => functionRecords[id].tables?.["access-records"] ?? []);
    expect(new Set(actions)).toEqual(new Set(["PartiQLInsert"]));
  });
});

const replica = z.object({
  DeletionProtectionEnabled: z.boolean(),
  PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
  SSESpecification: z.unknown().optional(),
  Tags: z.array(z.strictObject({ Key: z.string(), Value: z.string() })),
});
const tableProperties = z.object({ TableName: z.string(), Replicas: z.tuple([replica]) });

describe("tables", () => {
  test.each(eachStage)(
    "a table of %s has the stage's tags; it is protected, backed up and retained unless its items expire or can be made again, and personal data is encrypted with the stack's key",
    (stage, from) => {
      const found = resourcesOf("AWS::DynamoDB::GlobalTable", tableProperties, from);
      for (const { name, personalData, ephemeral = false, reimportable = false } of declared) {
        const { properties, ...table } = only(
          found.filter(({ logicalId }) => logicalId === tableOf(name)),
          name,
        );
        const [{ PointInTimeRecoverySpecification, ...replica }] = properties.Replicas;
        const isKept = stage === "prod" && !ephemeral;
        expect(PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled, name).toBe(
          isKept && !reimportable,
        );
        expect(replica, name).toEqual({
          DeletionProtectionEnabled: isKept,
          Tags: [
            { Key: "service", Value: "network-capabilities" },
            { Key: "stage", Value: stage },
          ],
          ...(personalData ? { SSESpecification: { KMSMasterKeyId: expect.anything() } } : {}),
        });
        expect(table, name).toMatchObject({
          deletionPolicy: stage === "dev" ? "Delete" : ephemeral ? "RetainExceptOnCreate" : "Retain",
          // A table that an update replaces was not made by that update, so CloudFormation knows no exception there.
          updateReplacePolicy: stage === "dev" ? "Delete" : "Retain",
        });
      }
    },
  );

  test("the data stack has DynamoDB tables and their KMS key alone, and the service stack has none", () => {
    const types = (text: string) => Object.values(parseOne(text).Resources).map(({ Type }) => Type);
    const { data, service } = texts.prod;
    expect(new Set(types(data))).toEqual(new Set(["AWS::DynamoDB::GlobalTable", "AWS::KMS::Key"]));
    expect(types(service).filter((type) => /DynamoDB|KMS/.test(type))).toEqual([]);
  });

  // A stand-in for who is meant shall be what all others hold: `hashed` callers, addresses, sinks.
  test("the tables of logins, devices, assignments and jobs are declared as personal data", () => {
    const encrypted = declared.filter(({ personalData }) => personalData).map(({ name }) => name);
    const known = ["density-jobs", "devices", "number-assignments", "profiles"];
    expect(encrypted).toEqual(expect.arrayContaining(known));
  });

  test("every table that is declared ephemeral has a time-to-live attribute", () => {
    const forgotten = declared.filter(({ ephemeral }) => ephemeral);
    expect(forgotten.filter(({ timeToLive }) => timeToLive === undefined)).toEqual([]);
  });

  test("every table is granted to a function, except that of imports, which ncs alone uses", () => {
    const used = new Set(Object.values(bundledRecords).flatMap((line) => Object.keys(line.tables ?? {})));
    expect(declared.map(({ name }) => name).filter((name) => !used.has(name))).toEqual(["density-imports"]);
  });
});

describe("a restored table", () => {
  test("a table restored under another name gets another logical id in CloudFormation, so that it can be imported", () => {
    const restored = someSettings["tables.profiles"];
    const from = sharedTemplate("someSettings");
    const tablesOf = (of: Template) =>
      new Map(
        resourcesOf("AWS::DynamoDB::GlobalTable", tableProperties, of).map(({ logicalId, properties }) => [
          properties.TableName,
          logicalId,
        ]),
      );
    const [before, after] = [tablesOf(deployed), tablesOf(from)];
    expect([...before.values()]).not.toContain(after.get(restored) ?? expect.fail());
    expect([...after].filter(([name]) => name !== restored)).toEqual(
      [...before].filter(([name]) => name !== tableNameOf("profiles", "prod")),
    );
    expect(JSON.stringify(from)).not.toContain(`${tableNameOf("profiles", "prod")}"`);
    expect(from.Outputs[tableOutput({ name: "profiles" })]?.Value).toBe(restored);
  });

  const functionProperties = z.object({
    Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
    Role: attribute,
  });

  /** The tables that each function of a synthesis names, and what its role may use. */
  function usesIn(name: SharedName) {
    const files = readdirSync(sharedFolder(name)).filter((file) => file.endsWith(".template.json"));
    const templates = files.map((file) => parseOne(readFileSync(join(sharedFolder(name), file), "utf8")));
    return templates.flatMap((from) =>
      resourcesOf("AWS::Lambda::Function", functionProperties, from).map(({ logicalId, properties }) => {
        const variables = Object.entries(properties.Environment.Variables);
        return {
          logicalId,
          names: variables.filter(([name]) => name.startsWith("TABLE_")).map(([, value]) => String(value)),
          rights: JSON.stringify(statementsOf(properties.Role["Fn::GetAtt"][0], from)),
        };
      }),
    );
  }

  /** The tables that versions of two successive releases name, without a right of the later one. */
  function lostBetween(earlier: SharedName, later: SharedName): string[] {
    const before = usesIn(earlier);
    return usesIn(later).flatMap(({ logicalId, names, rights }) => {
      const live = before.find((one) => one.logicalId === logicalId)?.names ?? [];
      return [...live, ...names].filter((name) => !rights.includes(`:table/${name}"`));
    });
  }

  test("while both names of a restored table are set, the old and the new version of each function may use their table", () => {
    expect(lostBetween("configured", "restoring")).toEqual([]);
    expect(lostBetween("restoring", "restored")).toEqual([]);
    // With the new name alone, the version before loses its table while it serves.
    expect([...new Set(lostBetween("configured", "restored"))].sort()).toEqual([
      "NetworkCapabilities-devices",
      "NetworkCapabilities-profiles",
    ]);
  });

  test("the setting restart is in the environment of every function, so that another value makes new versions", () => {
    const variables = resourcesOf(
      "AWS::Lambda::Function",
      functionProperties,
      sharedTemplate("restored"),
    ).map(({ properties }) => properties.Environment.Variables);
    expect(variables.filter(({ RESTART }) => RESTART !== "2026-11-25")).toEqual([]);
  });
});

describe("queues", () => {
  const consumers = functionIds.flatMap((id) => {
    const { consumes, ...record } = functionRecords[id];
    return consumes === undefined ? [] : [{ id, queue: consumes, ...record }];
  });

  test("every queue that a function consumes has a dead-letter queue, and every queue that none consumes is a dead-letter queue", () => {
    const names = Object.keys(queues) as QueueName[];
    const consumed = new Set(consumers.map(({ queue }) => queue));
    const forDead = new Set(names.map((name) => queueDescription(name).deadLetters?.queue));
    const dropping = names.filter((name) =>
      consumed.has(name) ? queueDescription(name).deadLetters === undefined : !forDead.has(name),
    );
    expect(dropping).toEqual([]);
  });

  test("SQS parks a delivery's message only after more receives than the longest SINK_RETRY_SECONDS has attempts", () => {
    const maxWaits = Array.from({ length: 100 }, (_, waits) => waits).findLast(
      (waits) => SINK_RETRY_SECONDS.format().read(Array(waits).fill("1").join(",")) !== undefined,
    );
    expect(maxWaits).toBeLessThan(99);
    // The first attempt, one after each wait, and one to tell the sink of a failure.
    expect(queueDescription("density-jobs").deadLetters?.maxReceiveCount).toBeGreaterThanOrEqual(
      1 + (maxWaits ?? 0) + 1,
    );
  });

  test("all queue consumers together use at most 100 of an account's 1,000 concurrent executions", () => {
    const most = Math.max(...Object.values(stages).map(({ maxWorkers }) => maxWorkers));
    expect(consumers.length * most).toBeLessThanOrEqual(100);
  });

  test("a queue's visibility timeout is longer than its consumer's time-out, and at most six minutes", () => {
    const longest = Math.max(...consumers.map(({ timeoutSeconds }) => timeoutSeconds ?? expect.fail()));
    expect(visibilitySeconds).toBeGreaterThan(longest);
    expect(visibilitySeconds).toBeLessThanOrEqual(6 * 60);
  });

  test("no queue consumer is granted SendMessage, as Lambda ends recursive chains", () => {
    const used = consumers.flatMap((worker) => Object.values(worker.queues ?? {}).flat());
    expect(used).not.toContain("SendMessage");
  });
});

describe("a release", () => {
  const released = functionIdsOf.prod.filter((id) => id !== "keys/rotate");
  const updatePolicy = z.object({
    CodeDeployLambdaAliasUpdate: z.object({ DeploymentGroupName: reference }),
  });
  const groupProperties = z.object({
    AlarmConfiguration: z.object({ Alarms: z.array(z.object({ Name: reference })) }),
    ServiceRoleArn: attribute,
  });
  const aliases = resourcesOf("AWS::Lambda::Alias", z.object({ FunctionName: reference }), deployed);
  const groups = resourcesOf("AWS::CodeDeploy::DeploymentGroup", groupProperties, deployed);
  const check = only(
    resourcesOf("Custom::ReleaseCheck", z.object({ ServiceToken: attribute }), deployed),
    "checks of releases",
  );
  const all = [
    ...new Set(
      groups.flatMap(({ properties }) => properties.AlarmConfiguration.Alarms.map(({ Name }) => Name.Ref)),
    ),
  ];

  test.each(released)(
    "CodeDeploy shifts %s to a new version only after its release check, its alarms and its role exist",
    (id) => {
      const alias = only(
        aliases.filter(({ properties }) => properties.FunctionName.Ref === functionOf(id)),
        id,
      );
      const policy = updatePolicy.parse(deployed.Resources[alias.logicalId]?.UpdatePolicy);
      const { Ref: groupId } = policy.CodeDeployLambdaAliasUpdate.DeploymentGroupName;
      const group = groups.find(({ logicalId }) => logicalId === groupId) ?? expect.fail();
      const [role] = group.properties.ServiceRoleArn["Fn::GetAtt"];
      const watched = group.properties.AlarmConfiguration.Alarms.map(({ Name }) => Name.Ref);
      expect(new Set(watched)).toEqual(new Set(all));
      expect(alias.dependsOn).toEqual(expect.arrayContaining([...watched, check.logicalId]));
      expect(group.dependsOn).toContain(role);
      expect(role).toMatch(new RegExp(`^ReleasesRole${functionRecords[id].releaseRole}[0-9A-F]{8}$`));
      expect(JSON.stringify(statementsOf(role, deployed))).toContain(`"${functionOf(id)}"`);
    },
  );

  test("CodeDeploy watches at least as many alarms as there are functions, and no composite one, which it would refuse", () => {
    expect(all.length).toBeGreaterThanOrEqual(released.length);
    expect(all.filter((name) => deployed.Resources[name]?.Type !== "AWS::CloudWatch::Alarm")).toEqual([]);
  });

  test("the release check is granted to invoke every function before it runs", () => {
    const [checking] = check.properties.ServiceToken["Fn::GetAtt"];
    const [role] = z.object({ Role: attribute }).parse(deployed.Resources[checking]?.Properties).Role[
      "Fn::GetAtt"
    ];
    expect(check.dependsOn).toContain(role);
    const text = JSON.stringify(statementsOf(role, deployed));
    const lacking = functionIdsOf.prod.filter(
      (id) => !text.includes(`"Fn::GetAtt":["${functionOf(id)}","Arn"]},":*"`),
    );
    expect(lacking).toEqual([]);
  });
});

describe("a host name of the operator's", () => {
  const withoutZone = sharedTemplate("someSettings");

  test("outputs name the operator's domainName and not AWS's host; without a hosted zone they have the target of its DNS record", () => {
    for (const { Outputs } of [withoutZone, configured]) {
      expect(JSON.stringify(Outputs)).not.toContain("execute-api");
      expect(Outputs.ApiAddress?.Value).toBe(`https://${everySetting.domainName}`);
    }
    expect(resourcesOf("AWS::Route53::RecordSet", z.unknown(), withoutZone)).toEqual([]);
    const domain = only(resourcesOf("AWS::ApiGateway::DomainName", z.unknown(), withoutZone), "domains");
    const target = textOf(withoutZone.Outputs.ApiRecordTarget?.Value);
    expect(target).toBe(`\${${domain.logicalId}.RegionalDomainName}`);
  });

  // API Gateway closes a host name with the next deployment of the API only.
  test("the setting awsHost closes AWS's execute-api host name, with another deployment of the API", () => {
    const [open, closed] = [sharedTemplate("hostOpen"), sharedTemplate("hostClosed")].map((from) => ({
      deployment: only(resourcesOf("AWS::ApiGateway::Deployment", z.unknown(), from), "deployments")
        .logicalId,
      isClosed: only(
        resourcesOf("AWS::ApiGateway::RestApi", z.object({ DisableExecuteApiEndpoint: z.boolean() }), from),
        "APIs",
      ).properties.DisableExecuteApiEndpoint,
    }));
    expect([open?.isClosed, closed?.isClosed]).toEqual([false, true]);
    expect(open?.deployment).not.toBe(closed?.deployment);
  });
});
