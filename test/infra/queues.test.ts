import { describe, expect, test } from "vitest";
import * as z from "zod";
import { functionIds } from "../../infra/bundles.ts";
import { type FunctionId, functionRecords } from "../../infra/functions.ts";
import { type QueueName, queueDescription, queues } from "../../shared/sqs/queues.ts";
import { SINK_RETRY_SECONDS } from "../../shared/variables/sink-retry-seconds.ts";
import { attribute, eachStage, functionOf, only, queueOf, resourcesOf, statementsOf } from "./template.ts";

const queueProperties = z.object({
  KmsMasterKeyId: z.unknown(),
  MessageRetentionPeriod: z.number(),
  RedrivePolicy: z.unknown().optional(),
  VisibilityTimeout: z.number(),
});

/** Strict: a filter or a switch would keep messages from their function, a window would keep them waiting. */
const mappingProperties = z.strictObject({
  BatchSize: z.number(),
  EventSourceArn: attribute,
  FunctionName: z.unknown(),
  FunctionResponseTypes: z.array(z.string()).default([]),
  ScalingConfig: z
    .strictObject({ MaximumConcurrency: z.number() })
    .default({ MaximumConcurrency: Number.POSITIVE_INFINITY }),
});

const functionProperties = z.object({
  Role: attribute,
  Timeout: z.number(),
});

const names = Object.keys(queues) as QueueName[];

const consumers = functionIds.flatMap((id: FunctionId) => {
  const { consumes } = functionRecords[id];
  return consumes === undefined ? [] : [{ id, queue: consumes }];
});

/** As many of the 1,000 functions that an account may run at a time may work on messages. */
const maxWorkers = 100;

describe("queues", () => {
  const made = resourcesOf("AWS::SQS::Queue", queueProperties);
  const propertiesOf = (name: QueueName) =>
    only(
      made.filter(({ logicalId }) => logicalId === queueOf(name)),
      name,
    ).properties;

  describe.each(names)("%s", (name) => {
    const properties = propertiesOf(name);
    const { deadLetters } = queueDescription(name);

    test(`the queue ${name} keeps messages no longer than its dead-letter queue does`, () => {
      // A dead letter keeps the moment it was first sent at.
      const keptDead = deadLetters && propertiesOf(deadLetters.queue).MessageRetentionPeriod;
      expect(properties.MessageRetentionPeriod).toBeLessThanOrEqual(
        keptDead ?? properties.MessageRetentionPeriod,
      );
    });
  });

  test("every consumed queue has a dead-letter queue, and every other queue is one", () => {
    const consumed = new Set(consumers.map(({ queue }) => queue));
    const forDead = new Set(names.map((name) => queueDescription(name).deadLetters?.queue));
    const dropping = names.filter((name) =>
      consumed.has(name) ? queueDescription(name).deadLetters === undefined : !forDead.has(name),
    );
    expect(dropping).toEqual([]);
  });

  test("a message outlives the longest schedule of attempts that SINK_RETRY_SECONDS may set", () => {
    const maxWaits = Array.from({ length: 100 }, (_, waits) => waits).findLast(
      (waits) => SINK_RETRY_SECONDS.format().read(Array(waits).fill("1").join(",")) !== undefined,
    );
    expect(maxWaits).toBeLessThan(99);
    // The first attempt, one after each wait, and one to tell the sink of a failure.
    expect(queueDescription("density-jobs").deadLetters?.maxReceiveCount).toBeGreaterThanOrEqual(
      1 + (maxWaits ?? 0) + 1,
    );
  });
});

describe.each(eachStage)("consumers of %s", (stage, from) => {
  const mappings = resourcesOf("AWS::Lambda::EventSourceMapping", mappingProperties, from);

  test(`the consumers of ${stage} together use a small part of the account's concurrency`, () => {
    const workers = mappings.map(({ properties }) => properties.ScalingConfig.MaximumConcurrency);
    expect(workers.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(maxWorkers);
  });

  describe.each(consumers)("$id", ({ id, queue }) => {
    const { properties: worker } = only(
      resourcesOf("AWS::Lambda::Function", functionProperties, from).filter(
        ({ logicalId }) => logicalId === functionOf(id),
      ),
      id,
    );
    const mapping = only(mappings, "mappings");

    test(`a message of ${id} of ${stage} stays hidden for longer than the function's time-out`, () => {
      const { properties } = only(
        resourcesOf("AWS::SQS::Queue", queueProperties, from).filter(
          ({ logicalId }) => logicalId === queueOf(queue),
        ),
        queue,
      );
      expect(properties.VisibilityTimeout).toBeGreaterThan(worker.Timeout);
      // The next worker after one that is gone does not wait much longer than that one could have worked.
      expect(properties.VisibilityTimeout).toBeLessThanOrEqual(6 * 60);
    });

    test(`${id} of ${stage} may not send messages to any queue, as Lambda ends recursive chains`, () => {
      const statements = statementsOf(worker.Role["Fn::GetAtt"][0], from);
      const sending = statements.filter(({ Action }) =>
        Action.some((action) => /^sqs:(?:Send|\*)/.test(action)),
      );
      expect(statements.length).toBeGreaterThan(3);
      expect(sending).toEqual([]);
    });

    test(`the mapping of ${id} of ${stage} depends on the role of its function, with its rights`, () => {
      expect(mapping.dependsOn).toContain(worker.Role["Fn::GetAtt"][0]);
    });
  });
});
