import {
  type AttributeValue,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { getEndpointFromInstructions } from "@smithy/core/endpoints";
import { HttpRequest } from "@smithy/core/protocols";
import { SignatureV4 } from "@smithy/signature-v4";
import * as z from "zod/mini";
import { Unavailable } from "../errors.ts";
import type { Schema } from "../table.ts";
import { failureOf } from "./clients.ts";
import { mayBeConnected, noteAnswer, Unanswered } from "./database-client.ts";
import { timedCall } from "./dependency-times.ts";

const updated = z.object({ Attributes: z.record(z.string(), z.any()) });
const refused = z.object({ __type: z.string(), Item: z.optional(z.record(z.string(), z.any())) });

/**
 * Updates an item in one attempt, for a write that must not be made twice: signed and sent with a client's own
 * connections, time limits, credentials and signer, but without its stack of functions (decision 0004).
 * @param schema of the attributes that are returned.
 * @returns what was found, as far as the input asks for it, if the condition does not hold.
 * @throws {Unavailable} for anything else: it is unknown whether the item was updated.
 */
export async function updateOnce<Item>(
  client: DynamoDBClient,
  input: UpdateItemCommandInput,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<{ readonly updated: Item } | { readonly found: Record<string, AttributeValue> | undefined }> {
  const call = timedCall("dynamodbMilliseconds", () => post(client, JSON.stringify(input), signal));
  const { status, text } = await call.catch((error: unknown) => {
    throw new Unanswered("DynamoDB", classOf(error));
  });
  try {
    const answer: unknown = JSON.parse(text);
    if (status === 200) return { updated: schema.parse(unmarshall(updated.parse(answer).Attributes)) };
    const { __type, Item } = refused.parse(answer);
    const name = __type.replace(/^.*#/, "");
    if (name === "ConditionalCheckFailedException") return { found: Item };
    throw Object.assign(new Error(), { name });
  } catch (error) {
    throw new Unavailable("DynamoDB", classOf(error));
  }
}

function classOf(error: unknown): string {
  return error instanceof Error ? failureOf(error) : "unknown";
}

async function post(client: DynamoDBClient, body: string, abortSignal: AbortSignal) {
  const { requestHandler, systemClockOffset } = client.config;
  const { url, signer } = await targetOf(client);
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
  const send = () => requestHandler.handle(HttpRequest.clone(signed), { abortSignal });
  const { response } = await send().catch((error: unknown) => {
    if (mayBeConnected(client) && isReset(error)) return send();
    throw error;
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  noteAnswer(client);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
}

/**
 * Whether a connection was gone when it was written to, as one that was kept while a function was frozen: DynamoDB has
 * almost certainly not read the request. A connection that ends without an answer to it has no `syscall`.
 */
function isReset(error: unknown): boolean {
  return (
    error instanceof Error &&
    "syscall" in error &&
    "code" in error &&
    (error.code === "ECONNRESET" || error.code === "EPIPE")
  );
}

/** Where a client's calls go, and how they are signed. */
interface Target {
  readonly url: URL;
  readonly signer: SignatureV4;
}

const targets = new WeakMap<DynamoDBClient, Target>();

async function targetOf(client: DynamoDBClient): Promise<Target> {
  const known = targets.get(client);
  if (known !== undefined) return known;
  const { url } = await getEndpointFromInstructions({}, UpdateItemCommand, { ...client.config });
  const { credentials, region, sha256 } = client.config;
  const signer = new SignatureV4({ service: "dynamodb", credentials, region, sha256 });
  const target = { url, signer };
  targets.set(client, target);
  return target;
}
