import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { DependencyTimes, timeCalls, timed } from "../../../shared/aws/dependency-times.ts";

const field = "dynamodbMilliseconds";
const credentials = { accessKeyId: "local", secretAccessKey: "local" };

describe("the time for which a request waits for a service", () => {
  it("is the time in which at least one call is under way", async () => {
    const times = new DependencyTimes();
    const started = performance.now();
    const [one, other] = [times.begin(field), times.begin(field)];
    await new Promise((resolve) => setTimeout(resolve, 20));
    one();
    await new Promise((resolve) => setTimeout(resolve, 20));
    other();
    const elapsed = performance.now() - started;

    const { [field]: measured = Number.NaN } = times.fields();
    expect(measured).toBeGreaterThanOrEqual(35);
    // Were the calls added up, it would be half as much again.
    expect(measured).toBeLessThanOrEqual(Math.round(elapsed));
  });

  it("leaves out the pauses between calls, and services that were not called", async () => {
    const times = new DependencyTimes();
    times.begin(field)();
    await new Promise((resolve) => setTimeout(resolve, 30));
    times.begin(field)();

    expect(times.fields()).toEqual({ [field]: expect.any(Number) });
    expect(times.fields()[field]).toBeLessThan(30);
  });

  it("counts a call that is cut off by the deadline until then", async () => {
    const times = new DependencyTimes();
    times.begin(field);
    await new Promise((resolve) => setTimeout(resolve, 20));

    expect(times.fields()[field]).toBeGreaterThanOrEqual(15);
  });

  it("is that of the request that makes the call, also when it fails", async () => {
    const [mine, others] = [new DependencyTimes(), new DependencyTimes()];
    const client = timed(
      new DynamoDBClient({
        endpoint: "http://127.0.0.1:9",
        region: "eu-west-1",
        maxAttempts: 1,
        credentials,
      }),
      field,
    );
    const command = new GetItemCommand({ TableName: "any", Key: { id: { S: "1" } } });

    const call = () => client.send(command);
    await expect(timeCalls(mine, call)).rejects.toThrow();
    await expect(call()).rejects.toThrow();

    expect(mine.fields()).toEqual({ [field]: expect.any(Number) });
    expect(others.fields()).toEqual({});
  });

  it("counts a call below other calls, whatever signal it gets, and no call of another request", async () => {
    const [mine, others] = [new DependencyTimes(), new DependencyTimes()];
    const client = timed(
      new DynamoDBClient({
        endpoint: "http://127.0.0.1:9",
        region: "eu-west-1",
        maxAttempts: 1,
        credentials,
      }),
      field,
    );
    const command = new GetItemCommand({ TableName: "any", Key: { id: { S: "1" } } });
    const deep = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await client.send(command, { abortSignal: AbortSignal.timeout(60_000) });
    };

    await Promise.allSettled([timeCalls(mine, deep), timeCalls(others, async () => undefined)]);

    expect(mine.fields()).toEqual({ [field]: expect.any(Number) });
    expect(others.fields()).toEqual({});
  });
});
