import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints, type TableName, tables } from "../../functions/areas.ts";
import { type FunctionId, functionRecords } from "../../infra/functions.ts";
import type { Table } from "../../shared/table.ts";
import { logicalIdOf } from "../../tools/assembly.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { apiResult } from "../../tools/local/api-result.ts";
import { type FaultyEndpoint, openFaultyEndpoint } from "../support/faulty-endpoint.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isWhole } from "../support/sample.ts";

// No policy is in force on this machine: a right that is missing, or of another index, would show on AWS alone.

let service: OwnService;
/** Stands between one function and the tables. */
let database: FaultyEndpoint;

beforeAll(async () => {
  service = await startOwnService({}, { hasDemoData: true, isIssuer: true });
  database = await openFaultyEndpoint(service.databaseEndpoint);
});

afterAll(async () => {
  await database?.close();
  await service?.close();
});

const declared: readonly Table<unknown, TableName>[] = tables;

const batch = z.looseObject({ RequestItems: z.record(z.string(), z.unknown()) });
const insert = z.looseObject({ Statement: z.string(), Parameters: z.array(z.unknown()) });
const other = z.looseObject({
  TableName: z.string(),
  IndexName: z.optional(z.string()),
  Key: z.optional(z.record(z.string(), z.unknown())),
});

/** A right: an action on a table or one of its indexes, and the partition where only some may be used. */
function rightOf(action: string, name: TableName, index?: string, partition?: unknown): string {
  return [
    action,
    name,
    ...(index === undefined ? [] : [index]),
    ...(partition ? [String(partition)] : []),
  ].join(" ");
}

/** The rights that the record of a function grants on tables. */
function granted(id: FunctionId): readonly string[] {
  const { tables: used = {}, indexes = {}, partitions = {} } = functionRecords[id];
  return declared.flatMap(({ name }) => [
    ...(used[name] ?? []).flatMap((action) =>
      (partitions[name] ?? [undefined]).map((partition) => rightOf(action, name, undefined, partition)),
    ),
    ...(indexes[name] ?? []).map((index) => rightOf("Query", name, index)),
  ]);
}

/** The rights that calls to DynamoDB need. */
function neededBy(calls: FaultyEndpoint["calls"], id: FunctionId): readonly string[] {
  const { partitions = {} } = functionRecords[id];
  const tableNamed = (deployed: string | undefined) =>
    declared.find(({ name }) => service.tableName(name) === deployed) ?? expect.fail(`no table ${deployed}`);
  const needed = calls.flatMap(({ operation, parameters }) => {
    if (operation === "BatchGetItem")
      return Object.keys(batch.parse(parameters).RequestItems).map((deployed) =>
        rightOf(operation, tableNamed(deployed).name),
      );
    if (operation === "ExecuteStatement") {
      const { Statement, Parameters } = insert.parse(parameters);
      const { name, partitionKey } = tableNamed(/^INSERT INTO "(.+?)" /.exec(Statement)?.[1]);
      const attributes = [...Statement.matchAll(/'(\w+)': \?/g)].map(([, attribute]) => attribute);
      const partition = textIn(Parameters[attributes.indexOf(partitionKey)]);
      return [rightOf("PartiQLInsert", name, undefined, partitions[name] && partition)];
    }
    const { TableName, IndexName, Key } = other.parse(parameters);
    const { name, partitionKey } = tableNamed(TableName);
    return [rightOf(operation, name, IndexName, partitions[name] && textIn(Key?.[partitionKey]))];
  });
  return [...new Set(needed)];
}

function textIn(value: unknown): string | undefined {
  return z.looseObject({ S: z.string() }).safeParse(value).data?.S;
}

const events = await Promise.all(
  eventFileNames().map(async (name) => ({ name, ...(await readNamedEvent(name)) })),
);

test.each([...endpoints, ...protocolEndpoints].map(({ id }) => id))(
  "%s asks DynamoDB for nothing that its role does not permit",
  async (id) => {
    const good = events.filter(({ functionId, status }) => functionId === id && status < 300);
    const before = database.calls.length;
    for (const { event } of isWhole ? good : good.slice(0, 1)) {
      await apiResult(service, logicalIdOf(id, service.template), event, {
        environment: { AWS_ENDPOINT_URL_DYNAMODB: database.url },
      });
    }
    const needed = neededBy(database.calls.slice(before), id);

    expect(good.length).toBeGreaterThan(0);
    expect(needed.filter((right) => !granted(id).includes(right))).toEqual([]);
    expect(needed.length > 0).toBe(granted(id).length > 0);
  },
);

test("the sweep queries the index of pending jobs, and makes no call to DynamoDB that its role refuses", async () => {
  const id = "population-density/sweep" satisfies FunctionId;
  const before = database.calls.length;
  await service.invoke(
    logicalIdOf(id, service.template),
    {},
    { environment: { AWS_ENDPOINT_URL_DYNAMODB: database.url } },
  );
  const needed = neededBy(database.calls.slice(before), id);

  expect(needed).toContain("Query density-jobs pending-by-shard");
  expect(needed.filter((right) => !granted(id).includes(right))).toEqual([]);
});
