import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isRetryable } from "../../../shared/aws/clients.ts";

/** The error that the server answers with. */
const answer = { status: 500, type: "", code: "" };

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const headers = answer.code === "" ? {} : { "x-amzn-query-error": `${answer.code};Sender` };
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0", ...headers });
    response.end(JSON.stringify({ __type: answer.type, message: "no" }));
  });
});
let client: SQSClient;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = new SQSClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-west-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    maxAttempts: 1,
  });
});
afterAll(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

/** The error that the SDK throws for an answer of SQS. */
async function reported(status: number, type: string, code = ""): Promise<unknown> {
  Object.assign(answer, { status, type, code });
  return await client.send(new ListQueuesCommand({})).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each([
  [true, 403, "com.amazonaws.sqs#RequestThrottled", "RequestThrottled"],
  [true, 400, "com.amazonaws.sqs#KmsThrottled", "KMS.ThrottlingException"],
  [true, 403, "RequestThrottled", ""],
  [true, 400, "KmsThrottled", ""],
  [true, 403, "OverLimit", ""],
  [true, 403, "", "RequestThrottled"],
  [true, 400, "", "KMS.ThrottlingException"],
  [true, 403, "AWS.SimpleQueueService.RequestThrottled", ""],
  [true, 400, "AWS.SimpleQueueService.KmsThrottled", ""],
  [true, 403, "com.amazonaws.sqs#OverLimit", "AWS.SimpleQueueService.OverLimit"],
  [true, 400, "com.amazonaws.sqs#ThrottlingException", ""],
  [true, 500, "com.amazonaws.sqs#InternalError", "InternalFailure"],
  [true, 503, "", ""],
  [false, 400, "com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"],
  [false, 400, "com.amazonaws.sqs#KmsAccessDenied", "KMS.AccessDeniedException"],
  [false, 400, "com.amazonaws.sqs#InvalidMessageContents", ""],
  [false, 403, "AccessDeniedException", ""],
])("an error of SQS is retryable (%j): %d %s %s", async (isTemporary, status, type, code) => {
  const error = await reported(status, type, code);
  expect(error).toBeInstanceOf(Error);
  expect(isRetryable(error)).toBe(isTemporary);
});
