import { setTimeout as wait } from "node:timers/promises";
import {
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
  type UpdateItemCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { getEndpointFromInstructions } from "@smithy/core/endpoints";
import { HttpRequest } from "@smithy/core/protocols";
import { SignatureV4 } from "@smithy/signature-v4";
import { attempts, isRetryable } from "./clients.ts";
import { timedCall } from "./dependency-times.ts";

/** A clock is corrected before a call is refused for it, at five minutes. */
const skewMilliseconds = 240_000;

/** What a call that is signed with a wrong time is refused with. */
const signatureErrors = new Set([
  "InvalidSignatureException",
  "RequestExpired",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
]);

/** What a client's calls have in common. */
interface Target {
  readonly url: URL;
  readonly signer: SignatureV4;
}

const targets = new WeakMap<DynamoDBClient, Promise<Target>>();

/** The pause before the second attempt, at most; doubled for the third. */
const firstPauseMilliseconds = 50;

/**
 * Makes the call that every request makes with a client's own connections, time-outs, credentials and signature, but
 * without its stack of functions, which takes two thirds of the processor's time of a call (decision 0034).
 * @param input without binary attributes, as is what is returned.
 * @throws what the client would throw; of an error of DynamoDB, its name and `$fault` alone.
 */
export async function updateDirectly(
  client: DynamoDBClient,
  input: UpdateItemCommandInput,
  signal: AbortSignal,
): Promise<Pick<UpdateItemCommandOutput, "Attributes">> {
  const body = JSON.stringify(input);
  return await timedCall(signal, "dynamodbMilliseconds", async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await post(client, body, signal);
      } catch (error) {
        if (attempt === attempts || signal.aborted || !isRetryable(error)) throw error;
      }
      await wait(Math.random() * firstPauseMilliseconds * 2 ** (attempt - 1), undefined, { signal });
    }
  });
}

async function post(
  client: DynamoDBClient,
  body: string,
  signal: AbortSignal,
): Promise<Pick<UpdateItemCommandOutput, "Attributes">> {
  const { url, signer } = await targetOf(client);
  const { config } = client;
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
  const offset = config.systemClockOffset;
  const signed = await signer.sign(request, { signingDate: new Date(Date.now() + offset) });
  const { response } = await config.requestHandler.handle(signed as HttpRequest, { abortSignal: signal });
  const serverTime = Date.parse(response.headers.date ?? "");
  // As the SDK does, for its own calls and these alike: a signature holds for five minutes.
  if (!Number.isNaN(serverTime)) config.systemClockOffset = serverTime - Date.now();
  const answer = JSON.parse(await textOf(response.body));
  if (response.statusCode === 200) return answer;
  const isSkewed = Math.abs(config.systemClockOffset - offset) >= skewMilliseconds;
  throw refusal(response.statusCode, answer, isSkewed);
}

async function targetOf(client: DynamoDBClient): Promise<Target> {
  let target = targets.get(client);
  if (target === undefined) {
    target = newTarget(client);
    targets.set(client, target);
    // Credentials may come later.
    target.catch(() => targets.delete(client));
  }
  return await target;
}

async function newTarget({ config }: DynamoDBClient): Promise<Target> {
  const { url } = await getEndpointFromInstructions({}, UpdateItemCommand, { ...config });
  const { credentials, region, sha256 } = config;
  return { url, signer: new SignatureV4({ service: "dynamodb", credentials, region, sha256 }) };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * What DynamoDB answers in place of a result, as `isRetryable` knows errors.
 * @param isSkewed whether it was signed with a time that is not DynamoDB's: with the corrected one it may succeed.
 */
function refusal(status: number, { __type = "" }: { readonly __type?: string }, isSkewed: boolean): Error {
  const name = __type.slice(__type.lastIndexOf("#") + 1) || `Status${status}`;
  const isOfSignature = isSkewed && signatureErrors.has(name);
  const isOurs = status < 500 && name !== "InternalServerError" && !isOfSignature;
  return Object.assign(new Error(name), { name, $fault: isOurs ? "client" : "server" });
}
