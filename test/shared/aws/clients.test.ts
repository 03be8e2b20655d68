import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { isRetryable } from "../../../shared/aws/clients.ts";
import { embeddedCredentials } from "../../../tools/local/servers/backing-server.ts";
import { serverOfTest } from "../../support/signed.ts";

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
  const { url: endpoint } = await serverOfTest((request, response) => {
    request.resume().on("end", () => {
      const headers = code === "" ? {} : { "x-amzn-query-error": `${code};Sender` };
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0", ...headers });
      response.end(JSON.stringify({ __type: type, message: "no" }));
    });
  });
  const client = new SQSClient({
    endpoint,
    region: "eu-west-1",
    credentials: embeddedCredentials,
    maxAttempts: 1,
  });
  const error: unknown = await client.send(new ListQueuesCommand({})).catch((reason: unknown) => reason);
  client.destroy();
  expect(error).toBeInstanceOf(Error);
  expect(isRetryable(error)).toBe(isTemporary);
});
