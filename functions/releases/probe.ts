/** An id that no operation has. */
const noOperation = "00000000-0000-4000-8000-000000000000";

/** How long the caller of a probe may use its token, in seconds. */
const probeSeconds = 300;

/**
 * One event that every function of the service understands as its own: a request of API Gateway with a caller, a
 * self-test for the authorizer, a message of SQS, and a step of a rotation that rotates nothing. It names nothing that
 * exists: endpoints find nothing or refuse the empty body, the authorizer loads its keys, and the worker finds no job.
 * The one that creates webhook secrets needs no body: it creates one for the caller `release-check`, which is no client,
 * until that has two. Each of them has then read its configuration, and most their tables.
 * @param scopes that the caller has, separated by spaces.
 */
export function probeEvent(scopes: string, now: Date): Readonly<Record<string, unknown>> {
  return {
    SecretId: "release-check",
    ClientRequestToken: "release-check",
    Step: "probe",
    type: "SELF_TEST",
    resource: "/",
    path: "/",
    httpMethod: "GET",
    headers: { "x-correlator": "release-check" },
    multiValueHeaders: {},
    pathParameters: { name: "RELEASE_CHECK", operationId: noOperation },
    queryStringParameters: null,
    body: "{}",
    isBase64Encoded: false,
    requestContext: {
      requestId: "release-check",
      path: "/live/",
      identity: { sourceIp: "127.0.0.1" },
      authorizer: {
        client: "release-check",
        scope: scopes,
        expires: String(Math.floor(now.getTime() / 1_000) + probeSeconds),
      },
    },
    Records: [
      {
        messageId: noOperation,
        receiptHandle: "release-check",
        body: JSON.stringify({ version: 1, operationId: noOperation }),
        attributes: {
          ApproximateReceiveCount: "2",
          SentTimestamp: String(now.getTime()),
          SenderId: "release-check",
          ApproximateFirstReceiveTimestamp: String(now.getTime()),
        },
        messageAttributes: {},
        md5OfBody: "release-check",
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:probe",
        awsRegion: "us-east-1",
      },
    ],
  };
}

/** What Lambda says of an invocation. */
export interface Invoked {
  /** Absent when the function has returned. */
  readonly functionError: string | undefined;
  readonly payload: string;
}

/**
 * Why a version must get no requests, from its answer to the probe; undefined for a good one. The payload may hold
 * anything, so that no more than a class or a status is repeated.
 */
export function faultIn({ functionError, payload }: Invoked): string | undefined {
  if (functionError !== undefined) {
    const { errorType } = objectIn(payload);
    return typeof errorType === "string" ? errorType : functionError;
  }
  // A streamed response has its status and headers before a separator of zeros.
  const { statusCode, batchItemFailures } = objectIn(payload.split("\0", 1)[0] ?? "");
  if (Array.isArray(batchItemFailures) && batchItemFailures.length > 0) return "message not handled";
  return typeof statusCode === "number" && statusCode >= 500 ? `status ${statusCode}` : undefined;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/**
 * The versions that did not get requests before: those whose number is higher than that of the same function's version
 * in an earlier deployment. When CloudFormation undoes a deployment, there are none, so that nothing can keep it from
 * going back.
 * @param versions as ARNs, which end in `:<function>:<number>`.
 */
export function newVersions(versions: readonly string[], before: readonly string[]): readonly string[] {
  const numbers = new Map(before.map((arn) => [functionOf(arn), numberOf(arn)]));
  return versions.filter((arn) => numberOf(arn) > (numbers.get(functionOf(arn)) ?? 0));
}

/** The name of the function in the ARN of a version. */
export function functionOf(arn: string): string {
  return arn.split(":").at(-2) ?? "";
}

function numberOf(arn: string): number {
  return Number(arn.split(":").at(-1));
}

interface AcceptedIssuer {
  readonly Issuer: string;
  readonly Audiences: readonly string[];
}

/** The issuers, each with its audiences, whose tokens were accepted before and no longer are, except retired ones. */
export function lostTokens(
  before: readonly AcceptedIssuer[],
  now: readonly AcceptedIssuer[],
  retired: readonly string[],
): readonly string[] {
  return before
    .filter(({ Issuer }) => !retired.includes(Issuer))
    .flatMap(({ Issuer, Audiences }) => {
      const kept = now.find((one) => one.Issuer === Issuer)?.Audiences ?? [];
      const lost = Audiences.filter((audience) => !kept.includes(audience));
      return lost.length === 0 ? [] : [`${Issuer} with audience ${lost.join(", ")}`];
    });
}
