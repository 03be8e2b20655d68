import { setTimeout as pause } from "node:timers/promises";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod/mini";
import { failureOf } from "../../shared/aws/clients.ts";
import { faultIn, functionOf, type Invoked, lostTokens, newVersions, probeEvent } from "./probe.ts";

/** The issuers whose tokens are accepted, ours too, with the audiences that a token may name. */
const accepted = z.array(z.object({ Issuer: z.string(), Audiences: z.array(z.string()) }));

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requests.html */
const resourceEvent = z.object({
  RequestType: z.enum(["Create", "Update", "Delete"]),
  ResponseURL: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
  PhysicalResourceId: z.optional(z.string()),
  ResourceProperties: z.object({
    /** ARNs of the versions that the deployment is about to give requests to. */
    Versions: z.array(z.string()),
    /** All scopes, separated by spaces. */
    Scopes: z.string(),
    /** `true` for a release that is not checked. */
    AtOnce: z.string(),
    Accepted: accepted,
    /** Issuers whose tokens may be refused from now on. */
    Retired: z._default(z.array(z.string()), []),
  }),
  OldResourceProperties: z.optional(
    z.object({ Versions: z.array(z.string()), Accepted: z._default(accepted, []) }),
  ),
});

type Wait = (milliseconds: number) => Promise<unknown>;

type ResourceEvent = z.infer<typeof resourceEvent>;

/** Milliseconds for one invocation: as long as any function may take. */
const invocationMilliseconds = 40_000;

/** A new right of this function takes some seconds to be known everywhere, and a table may throttle for a moment. */
const attempts = 3;
const pauseMilliseconds = 5_000;

const answerMilliseconds = 10_000;

const client = new LambdaClient({
  maxAttempts: 2,
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: invocationMilliseconds,
    socketTimeout: invocationMilliseconds,
    throwOnRequestTimeout: true,
  },
});

/**
 * A resource of CloudFormation on which all aliases depend: before any of them shifts, each new version is invoked with
 * a probe. If one breaks off or answers 5xx, or tokens of an issuer would be refused that no setting retires, the
 * deployment fails, and no caller has met it.
 */
export async function handler(event: unknown): Promise<void> {
  await checkRelease(event, pause);
}

/** @param wait milliseconds between attempts. */
export async function checkRelease(event: unknown, wait: Wait): Promise<void> {
  const request = resourceEvent.parse(event);
  const faults = await faultsOf(request, wait);
  await answerTo(request, faults.length === 0 ? undefined : `not released: ${faults.join(", ")}`);
}

async function faultsOf(request: ResourceEvent, wait: Wait): Promise<readonly string[]> {
  const { RequestType, ResourceProperties, OldResourceProperties } = request;
  // The first deployment has no callers yet, and perhaps no signing key.
  if (RequestType !== "Update") return [];
  const released = newVersions(ResourceProperties.Versions, OldResourceProperties?.Versions ?? []);
  // Other issuers make a new version of the authorizer. A deployment that is undone has none, and may lose any.
  if (released.length === 0) return [];
  const { Accepted, Retired, AtOnce } = ResourceProperties;
  const lost = lostTokens(OldResourceProperties?.Accepted ?? [], Accepted, Retired);
  if (lost.length > 0)
    return [`it would refuse tokens of ${lost.join(" and ")}, which retiredIssuers does not name`];
  if (AtOnce === "true") return [];
  const found = await Promise.all(
    released.map(async (arn) => {
      const fault = await lastingFault(arn, ResourceProperties.Scopes, wait);
      return fault === undefined ? [] : [`${functionOf(arn)} (${fault})`];
    }),
  );
  return found.flat();
}

async function lastingFault(arn: string, scopes: string, wait: Wait): Promise<string | undefined> {
  let fault: string | undefined;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attempt > 1) await wait(pauseMilliseconds);
    fault = await faultOf(arn, scopes);
    if (fault === undefined) return undefined;
  }
  return fault;
}

async function faultOf(arn: string, scopes: string): Promise<string | undefined> {
  const command = new InvokeCommand({
    FunctionName: arn,
    Payload: JSON.stringify(probeEvent(scopes, new Date())),
  });
  let invoked: Invoked;
  try {
    const { FunctionError, Payload } = await client.send(command, {
      abortSignal: AbortSignal.timeout(invocationMilliseconds),
    });
    invoked = { functionError: FunctionError, payload: Payload?.transformToString() ?? "" };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return failureOf(error);
  }
  return faultIn(invoked);
}

/** @throws {Error} when CloudFormation does not get the answer: Lambda then invokes this function again. */
async function answerTo(request: ResourceEvent, reason: string | undefined): Promise<void> {
  const { ResponseURL, StackId, RequestId, LogicalResourceId, PhysicalResourceId } = request;
  const body = JSON.stringify({
    Status: reason === undefined ? "SUCCESS" : "FAILED",
    Reason: reason ?? "",
    PhysicalResourceId: PhysicalResourceId ?? LogicalResourceId,
    StackId,
    RequestId,
    LogicalResourceId,
  });
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), answerMilliseconds);
  try {
    const response = await fetch(ResponseURL, {
      method: "PUT",
      // The address is signed without a type.
      headers: { "content-type": "" },
      body,
      signal: ending.signal,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`CloudFormation answered ${response.status}`);
  } finally {
    // `fetch` of Node.js may leave a body whose abort, after all is over, would end the process.
    clearTimeout(timer);
  }
}
