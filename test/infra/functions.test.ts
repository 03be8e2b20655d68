import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints, tables } from "../../functions/areas.ts";
import { dataSetKey } from "../../functions/population-density/tiles/data-set-store.ts";
import { functionIds } from "../../infra/bundles.ts";
import {
  type FunctionId,
  type FunctionRecord,
  functionDefaults,
  functionRecords,
} from "../../infra/functions.ts";
import type { QueueName } from "../../shared/sqs/queues.ts";
import { policiesOf } from "../../tools/cli/grants.ts";
import {
  arnOf,
  attribute,
  eachStage,
  functionIdsOf,
  functionOf,
  only,
  queueOf,
  reference,
  resourcesOf,
  sharedTemplate,
  statementsOf,
  type Template,
  tableArnOf,
  textOf,
} from "./template.ts";

const functionProperties = z.object({
  LoggingConfig: z.object({ LogGroup: reference }),
  Role: attribute,
});

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

/** What a function may do, a line for each action on each resource under each condition. */
function right(action: string, resource: unknown, condition?: unknown): string {
  return [action, JSON.stringify(resource), JSON.stringify(condition)].join(" ");
}

/** Everything that the policies of a role allow. */
function rightsOf(role: string, from: Template): string[] {
  return statementsOf(role, from)
    .flatMap(({ Action, Resource, Condition }) =>
      Action.flatMap((action) => Resource.map((resource) => right(action, resource, Condition))),
    )
    .sort();
}

/** The condition that only these partitions of a table are used, and that a call names one. */
function leading(partitions: readonly string[] | undefined): unknown {
  return (
    partitions && {
      "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": partitions },
      Null: { "dynamodb:LeadingKeys": "false" },
    }
  );
}

/** The condition that something is done on behalf of the caller by a service. */
function through(service: string): unknown {
  const host = { "Fn::Join": ["", [`${service}.`, { Ref: "AWS::Region" }, ".amazonaws.com"]] };
  return { StringEquals: { "kms:ViaService": host } };
}

test.each(functionIds)("%s runs for no longer than API Gateway, or the lease on its job, waits", (id) => {
  const { timeoutSeconds = functionDefaults.timeoutSeconds } = functionRecords[id];
  expect(timeoutSeconds).toBeLessThanOrEqual(maxSeconds(id));
});

describe.each(eachStage)("functions of %s", (stage, from) => {
  const idsOfStage = functionIdsOf[stage];
  const functions = resourcesOf("AWS::Lambda::Function", functionProperties, from);
  const secret = only(resourcesOf("AWS::SecretsManager::Secret", z.unknown(), from), "secrets");
  const key = only(resourcesOf("AWS::KMS::Key", z.unknown(), from), "keys");
  const roles = resourcesOf("AWS::IAM::Role", z.unknown(), from);
  const statements = policiesOf(from).flatMap((policy) => policy.statements);
  const propertiesOf = (id: FunctionId) =>
    only(
      functions.filter(({ logicalId }) => logicalId === functionOf(id)),
      id,
    ).properties;

  describe.each(idsOfStage)("%s", (id) => {
    const properties = propertiesOf(id);
    const {
      tables: granted = {},
      indexes: queried = {},
      partitions = {},
      signingKey = [],
      queues: used = {},
      consumes,
    } = functionRecords[id];
    const grantedTables = tables.filter(({ name }) => granted[name] !== undefined);
    const tableNames = grantedTables.map(({ name }) => name);
    const queueNames = Object.keys(used) as QueueName[];

    test(`${id} of ${stage} may do exactly what its record says and what that needs`, () => {
      const role = only(
        roles.filter(({ logicalId }) => logicalId === properties.Role["Fn::GetAtt"][0]),
        "roles",
      );
      const logGroup = arnOf(properties.LoggingConfig.LogGroup.Ref);
      const consumed = consumes === undefined ? [] : [consumes];
      const messages = queueNames.length + consumed.length === 0 ? [] : ["Decrypt", "GenerateDataKey"];
      const encrypted = grantedTables.filter(({ personalData }) => personalData);
      const items = [
        ...(encrypted.length === 0 ? [] : ["Decrypt", "DescribeKey"]),
        ...(encrypted.some(({ name }) =>
          granted[name]?.some((action) => /Put|Update|Delete|Insert/.test(action)),
        )
          ? ["Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"]
          : []),
      ];
      const wanted = [
        ...["CreateLogStream", "PutLogEvents"].map((action) => right(`logs:${action}`, logGroup)),
        ...tableNames.flatMap((name) =>
          (granted[name] ?? []).map((action) =>
            right(`dynamodb:${action}`, tableArnOf(name, stage), leading(partitions[name])),
          ),
        ),
        ...tableNames.flatMap((name) =>
          (queried[name] ?? []).map((index) =>
            right("dynamodb:Query", tableArnOf(name, stage, `/index/${index}`)),
          ),
        ),
        ...signingKey.map((action) => right(`secretsmanager:${action}`, { Ref: secret.logicalId })),
        ...queueNames.flatMap((name) =>
          (used[name] ?? []).map((action) => right(`sqs:${action}`, arnOf(queueOf(name)))),
        ),
        ...consumed.flatMap((name) =>
          ["ReceiveMessage", "DeleteMessage", "GetQueueAttributes"].map((action) =>
            right(`sqs:${action}`, arnOf(queueOf(name))),
          ),
        ),
        ...messages.map((action) => right(`kms:${action}`, arnOf(key.logicalId), through("sqs"))),
        ...items.map((action) => right(`kms:${action}`, arnOf(key.logicalId), through("dynamodb"))),
      ];
      expect(rightsOf(role.logicalId, from)).toEqual(wanted.sort());
    });
  });

  test(`every statement of ${stage} is a right, and none has an action with a wildcard or a Scan`, () => {
    const isNarrow = ({ Action, Effect }: (typeof statements)[number]) =>
      Effect === "Allow" && !Action.some((action) => /\*|Scan$/.test(action));
    expect(statements.length).toBeGreaterThanOrEqual(idsOfStage.length);
    expect(statements.filter((statement) => !isNarrow(statement))).toEqual([]);
  });

  test(`no policy of ${stage} has a resource with a wildcard except where AWS requires one`, () => {
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

  test(`the template of ${stage} has nothing of a local run`, () => {
    // The template that tests run is that of a local run.
    const text = JSON.stringify(stage === "dev" ? sharedTemplate("deployedDev") : from);
    const local = [
      "AWS_ENDPOINT_URL",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "SINK_ALLOWED_NETWORKS",
      "127.0.0.1",
      "localhost",
    ];
    expect(local.filter((one) => text.includes(one))).toEqual([]);
  });
});

test("of densities the sweep may read the item alone that says which day was observed last", () => {
  const { tables, partitions } = functionRecords["population-density/sweep"];
  expect({ actions: tables?.densities, partitions }).toEqual({
    actions: ["GetItem"],
    partitions: { densities: [dataSetKey.tile] },
  });
});

/** What records grant, a line for each function. */
const grants = (what: (record: FunctionRecord) => readonly unknown[] | undefined) =>
  functionIds.flatMap((id) => {
    const granted = what(functionRecords[id]);
    return granted === undefined || granted.length === 0 ? [] : [`${id}: ${granted.join(" ")}`];
  });

test("a function may query the one index that it reads: the list that of callers, deliveries that of hosts, the sweep that of pending jobs", () => {
  expect(grants(({ indexes = {} }) => Object.values(indexes).flat())).toEqual([
    "population-density/list-operations: by-caller",
    "population-density/deliver: waiting",
    "population-density/sweep: pending-by-shard",
  ]);
});

test("only what issues tokens and the rotation may read the private key", () => {
  expect(grants(({ signingKey }) => signingKey?.filter((one) => one === "GetSecretValue"))).toEqual([
    "profile/authenticate: GetSecretValue",
    "oauth2/token: GetSecretValue",
    "keys/rotate: GetSecretValue",
  ]);
});

test("no function can replace a key of pseudonyms or use all of them, and retrieve-ppid alone can use that of devices", () => {
  const ofKeys = functionIds.map((id) => functionRecords[id]).filter((one) => one.tables?.["pseudonym-keys"]);
  const actions = ofKeys.flatMap(({ tables: used }) => used?.["pseudonym-keys"] ?? []);
  expect(new Set(actions)).toEqual(new Set(["GetItem", "PartiQLInsert"]));
  expect(ofKeys.filter(({ partitions }) => !partitions?.["pseudonym-keys"]?.length)).toEqual([]);
  expect(
    grants(({ partitions }) => partitions?.["pseudonym-keys"]?.filter((use) => use === "device-ppids")),
  ).toEqual(["device-identifier/retrieve-ppid: device-ppids"]);
});

test("no function can read, update or delete an access record, or replace one", () => {
  const actions = functionIds.flatMap((id) => functionRecords[id].tables?.["access-records"] ?? []);
  expect(new Set(actions)).toEqual(new Set(["PartiQLInsert"]));
});
