import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DependencyTimes, timeCalls, timed } from "../../../shared/aws/dependency-times.ts";
import { embeddedCredentials } from "../../../tools/local/servers/backing-server.ts";

const field = "dynamodbMilliseconds";

// A client of a port on which no server listens, so that every call fails.
const client = timed(
  new DynamoDBClient({
    endpoint: "http://127.0.0.1:9",
    region: "eu-west-1",
    maxAttempts: 1,
    credentials: embeddedCredentials,
  }),
  field,
);
const command = new GetItemCommand({ TableName: "any", Key: { id: { S: "1" } } });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("DependencyTimes counts the time during which at least one call is under way", () => {
  const times = new DependencyTimes();

  const [endOne, endOther] = [times.begin(field), times.begin(field)];
  vi.advanceTimersByTime(20);
  endOne();
  vi.advanceTimersByTime(15);
  endOther();

  expect(times.fields()).toEqual({ [field]: 35 });
});

test("DependencyTimes does not count the pauses between calls", () => {
  const times = new DependencyTimes();

  for (const milliseconds of [10, 5]) {
    const end = times.begin(field);
    vi.advanceTimersByTime(milliseconds);
    end();
    vi.advanceTimersByTime(1_000);
  }

  expect(times.fields()).toEqual({ [field]: 15 });
});

test("DependencyTimes counts a call that still runs until now", () => {
  const times = new DependencyTimes();

  times.begin(field);
  vi.advanceTimersByTime(20);

  expect(times.fields()).toEqual({ [field]: 20 });
});

test("a timed client times a failing call for the request that makes it, and no call outside a request", async () => {
  const times = new DependencyTimes();

  await expect(timeCalls(times, () => client.send(command))).rejects.toThrow();
  await expect(client.send(command)).rejects.toThrow();

  expect(times.fields()).toEqual({ [field]: expect.any(Number) });
});

test("a timed client times a nested call with any signal, and none of another request", async () => {
  const [mine, others] = [new DependencyTimes(), new DependencyTimes()];
  const nested = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    await client.send(command, { abortSignal: AbortSignal.timeout(60_000) });
  };

  await Promise.allSettled([timeCalls(mine, nested), timeCalls(others, async () => undefined)]);

  expect(mine.fields()).toEqual({ [field]: expect.any(Number) });
  expect(others.fields()).toEqual({});
});
