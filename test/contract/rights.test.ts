import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints, type TableName, tables } from "../../functions/areas.ts";
import type { FunctionId } from "../../infra/functions.ts";
import type { Table } from "../../shared/table.ts";
import { rotationSteps } from "../../shared/tokens/rotation.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { apiResult } from "../../tools/local/api-result.ts";
import { functionOf, only, queueOf, resourcesOf, statementsOf, template, textOf } from "../infra/template.ts";
import { type FaultyEndpoint, openFaultyEndpoint } from "../support/faulty-endpoint.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isWhole } from "../support/sample.ts";

// No policy is in force on this machine: a right that is missing, or of another index, would show on AWS alone.

let service: OwnService;
/** Stand between a function and the tables, the queues and the secret. */
let proxies: readonly FaultyEndpoint[];
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await startOwnService({}, { hasDemoData: true });
  const servers = {
    AWS_ENDPOINT_URL_DYNAMODB: service.databaseEndpoint,
    AWS_ENDPOINT_URL_SQS: service.queueEndpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: service.secretsEndpoint,
  };
  const opened = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => [name, await openFaultyEndpoint(server)] as const),
  );
  proxies = opened.map(([, proxy]) => proxy);
  environment = Object.fromEntries(opened.map(([name, { url }]) => [name, url]));
});

afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.close()));
  await service?.close();
});

const declared: readonly Table<unknown, TableName>[] = tables;

const secret = only(resourcesOf("AWS::SecretsManager::Secret", z.unknown()), "secrets").logicalId;

const roleOf = z.object({ Role: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }) });
const leading = z.object({
  "ForAllValues:StringEquals": z.object({ "dynamodb:LeadingKeys": z.array(z.string()) }),
});
const via = z.object({ StringEquals: z.object({ "kms:ViaService": z.unknown() }) });

/**
 * What the role of a function permits in the template, a line for each action: on a table or its index, and on a partition
 * where only some are permitted; on a queue or the secret; on the key, by the service through which alone it is.
 */
function granted(id: FunctionId): readonly string[] {
  const { Role } = roleOf.parse(template.Resources[functionOf(id)]?.Properties);
  return statementsOf(Role["Fn::GetAtt"][0], template).flatMap(({ Action, Resource, Condition }) => {
    const partitions =
      leading.safeParse(Condition).data?.["ForAllValues:StringEquals"]["dynamodb:LeadingKeys"];
    const service = via.safeParse(Condition).data?.StringEquals["kms:ViaService"];
    const things = Resource.map(textOf).map((text) => text.replace(/^arn:.*:table\//, ""));
    const on = service === undefined ? things : [textOf(service).replace(/\..*/, "")];
    return Action.flatMap((action) =>
      on.flatMap((thing) =>
        (partitions ?? [""]).map((partition) => `${action} ${thing} ${partition}`.trim()),
      ),
    );
  });
}

const batch = z.looseObject({ RequestItems: z.record(z.string(), z.unknown()) });
const insert = z.looseObject({ Statement: z.string(), Parameters: z.array(z.unknown()) });
const other = z.looseObject({
  TableName: z.string(),
  IndexName: z.optional(z.string()),
  Key: z.optional(z.record(z.string(), z.unknown())),
});
const ofQueue = z.looseObject({ QueueUrl: z.string() });

/** A right that a call needs; on one partition, if it names one. */
interface Needed {
  readonly right: string;
  readonly partition?: unknown;
}

/** What DynamoDB and SQS do with the key on behalf of whoever calls them. */
const keyRights = {
  read: ["Decrypt", "DescribeKey"],
  write: ["Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"],
  message: ["Decrypt", "GenerateDataKey"],
} as const;

function throughKey(use: keyof typeof keyRights, by: "dynamodb" | "sqs"): readonly Needed[] {
  return keyRights[use].map((action) => ({ right: `kms:${action} ${by}` }));
}

function onTable(
  operation: string,
  deployed: string,
  partitionOf: (key: string) => unknown,
): readonly Needed[] {
  const [name, index] = deployed.split("/index/");
  const found = declared.find((one) => service.tableName(one.name) === name) ?? expect.fail(name);
  const partition = z.looseObject({ S: z.string() }).safeParse(partitionOf(found.partitionKey)).data?.S;
  const use = /Put|Update|Delete|Insert/.test(operation) ? throughKey("write", "dynamodb") : [];
  return [
    { right: `dynamodb:${operation} ${deployed}`, ...(index === undefined ? { partition } : {}) },
    ...(found.personalData ? [...throughKey("read", "dynamodb"), ...use] : []),
  ];
}

function neededFor({ operation, parameters }: FaultyEndpoint["calls"][number]): readonly Needed[] {
  if ("QueueUrl" in parameters) {
    const { QueueUrl } = ofQueue.parse(parameters);
    const [name] = [...service.queueUrls].find(([, url]) => url === QueueUrl) ?? expect.fail(QueueUrl);
    return [{ right: `sqs:${operation} \${${queueOf(name)}.Arn}` }, ...throughKey("message", "sqs")];
  }
  if ("SecretId" in parameters) {
    expect(parameters.SecretId).toBe(service.secretId);
    return [{ right: `secretsmanager:${operation} \${${secret}}` }];
  }
  if (operation === "BatchGetItem")
    return Object.keys(batch.parse(parameters).RequestItems).flatMap((name) =>
      onTable(operation, name, () => undefined),
    );
  if (operation === "ExecuteStatement") {
    const { Statement, Parameters } = insert.parse(parameters);
    const name = /^INSERT INTO "(.+?)" /.exec(Statement)?.[1] ?? expect.fail(Statement);
    const attributes = [...Statement.matchAll(/'(\w+)': \?/g)].map(([, attribute]) => attribute);
    return onTable("PartiQLInsert", name, (key) => Parameters[attributes.indexOf(key)]);
  }
  const { TableName, IndexName, Key } = other.parse(parameters);
  return onTable(
    operation,
    IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`,
    (key) => Key?.[key],
  );
}

/** What is needed for the calls that something makes. */
async function neededBy(run: () => Promise<unknown>): Promise<readonly Needed[]> {
  const before = proxies.map(({ calls }) => calls.length);
  await run();
  return proxies.flatMap(({ calls }, index) => calls.slice(before[index]).flatMap(neededFor));
}

/** Those of what is needed that the role of a function does not permit. */
function refused(id: FunctionId, needed: readonly Needed[]): readonly string[] {
  const permitted = granted(id);
  const lines = needed.map(({ right, partition }) =>
    permitted.includes(right) ? right : `${right} ${partition ?? ""}`.trim(),
  );
  return [...new Set(lines)].filter((line) => !permitted.includes(line));
}

/** The rights on queues and the secret. */
function seen(rights: readonly string[]): readonly string[] {
  return [...new Set(rights.filter((right) => /^(?:sqs|secretsmanager):/.test(right)))].sort();
}

const events = await Promise.all(
  eventFileNames().map(async (name) => ({ name, ...(await readNamedEvent(name)) })),
);

test.each([...endpoints, ...protocolEndpoints].map(({ id }) => id))(
  "%s asks tables, queues and the secret for nothing that its role does not permit, and needs each of its rights on queues and secret",
  async (id) => {
    const good = events.filter(({ functionId, status }) => functionId === id && status < 300);
    const firstOfEach = good.filter(
      ({ status }, at) => good.findIndex((one) => one.status === status) === at,
    );
    const needed = await neededBy(async () => {
      for (const { event, status } of isWhole ? good : firstOfEach)
        expect(await apiResult(service, id, event, { environment })).toMatchObject({ statusCode: status });
    });

    expect(good.length).toBeGreaterThan(0);
    expect(refused(id, needed)).toEqual([]);
    expect(seen(needed.map(({ right }) => right))).toEqual(seen(granted(id)));
    const ofTables = (right: string) => right.startsWith("dynamodb:");
    expect(needed.some(({ right }) => ofTables(right))).toBe(granted(id).some(ofTables));
  },
);

test("the sweep queries the index of pending jobs, and makes no call that its role refuses", async () => {
  const id = "population-density/sweep";
  const needed = await neededBy(() => service.invoke(id, {}, { environment }));

  expect(needed).toContainEqual({
    right: `dynamodb:Query ${service.tableName("density-jobs")}/index/pending-by-shard`,
  });
  expect(refused(id, needed)).toEqual([]);
});

test("a delivery hides its message, and makes no call that its role refuses", async () => {
  const id = "population-density/deliver";
  const attributes = { ApproximateReceiveCount: "1", SentTimestamp: String(Date.now()) };
  const messages = ["{}", JSON.stringify({ version: 1, operationId: crypto.randomUUID() })];
  const Records = messages.map((body) => ({ messageId: body, receiptHandle: "gone", body, attributes }));
  const needed = await neededBy(() => service.invoke(id, { Records }, { environment }));

  expect(refused(id, needed)).toEqual([]);
  // Lambda receives and deletes messages by the same role.
  const lambdas = /^sqs:(?:ReceiveMessage|DeleteMessage|GetQueueAttributes) /;
  expect(seen(needed.map(({ right }) => right))).toEqual(
    seen(granted(id)).filter((right) => !lambdas.test(right)),
  );
});

test("a rotation asks for nothing that its role does not permit, and needs every right that it has on the secret", async () => {
  const id = "keys/rotate";
  const event = { SecretId: service.secretId, ClientRequestToken: crypto.randomUUID() };
  const needed = await neededBy(async () => {
    for (const Step of rotationSteps) await service.invoke(id, { ...event, Step }, { environment });
  });

  expect(refused(id, needed)).toEqual([]);
  expect(seen(needed.map(({ right }) => right))).toEqual(seen(granted(id)));
});
