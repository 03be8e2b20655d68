import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
  type UpdateItemCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { getEndpointFromInstructions } from "@smithy/core/endpoints";
import { HttpRequest } from "@smithy/core/protocols";
import { SignatureV4 } from "@smithy/signature-v4";
import { answerMilliseconds } from "./clients.ts";
import { timedCall } from "./dependency-times.ts";

/** What a client's calls have in common. */
interface Target {
  readonly url: URL;
  readonly signer: SignatureV4;
}

/** None for a client that makes one attempt: the program that uses it paces its calls by what it sees of each. */
const targets = new WeakMap<DynamoDBClient, Promise<Target | undefined>>();

/**
 * Makes the call that requests and deliveries make most, with a client's own connections, time limits, credentials and
 * signer, but without its stack of functions, which takes two thirds of the processor time of a call (decision 0004).
 * Unless DynamoDB updates the item or says that the condition does not hold, the client makes the call itself, with its
 * retries, its correction of the clock and its errors. Its attempts then wait for an answer for a third less, so that all
 * take no longer than its own three.
 * @param input without binary attributes, as is what is returned.
 * @throws what the client throws.
 */
export async function updateDirectly(
  client: DynamoDBClient,
  input: UpdateItemCommandInput,
  signal: AbortSignal,
): Promise<Pick<UpdateItemCommandOutput, "Attributes">> {
  const target = await targetOf(client).catch(() => undefined);
  if (target === undefined) return await client.send(new UpdateItemCommand(input), { abortSignal: signal });
  const answer = await timedCall("dynamodbMilliseconds", () =>
    post(client, target, JSON.stringify(input), signal),
  ).catch(() => undefined);
  if (answer?.status === 200) return answer.body;
  if (answer?.body.__type?.endsWith("#ConditionalCheckFailedException"))
    throw new ConditionalCheckFailedException({ $metadata: {}, message: "The conditional request failed" });
  return await client.send(new UpdateItemCommand(input), {
    abortSignal: signal,
    requestTimeout: (2 / 3) * answerMilliseconds(),
  });
}

interface Answer {
  readonly status: number;
  readonly body: Pick<UpdateItemCommandOutput, "Attributes"> & { readonly __type?: string };
}

async function post(
  client: DynamoDBClient,
  { url, signer }: Target,
  body: string,
  abortSignal: AbortSignal,
): Promise<Answer> {
  const { requestHandler, systemClockOffset } = client.config;
  const request = new HttpRequest({
    method: "POST",
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    path: url.pathname,
    headers: {
      host: url.host,
      "content-type": "application/x-amz-json-1.0",
      "content-length": String(Buffer.byteLength(body)),
      "x-amz-target": "DynamoDB_20120810.UpdateItem",
    },
    body,
  });
  const signed = await signer.sign(request, { signingDate: new Date(Date.now() + systemClockOffset) });
  const { response } = await requestHandler.handle(HttpRequest.clone(signed), { abortSignal });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

async function targetOf(client: DynamoDBClient): Promise<Target | undefined> {
  let target = targets.get(client);
  if (target === undefined) {
    target = newTarget(client);
    targets.set(client, target);
    // Credentials may come later.
    target.catch(() => targets.delete(client));
  }
  return await target;
}

async function newTarget({ config }: DynamoDBClient): Promise<Target | undefined> {
  if ((await config.maxAttempts()) === 1) return undefined;
  const { url } = await getEndpointFromInstructions({}, UpdateItemCommand, { ...config });
  const { credentials, region, sha256 } = config;
  return { url, signer: new SignatureV4({ service: "dynamodb", credentials, region, sha256 }) };
}
