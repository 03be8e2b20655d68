import { vi } from "vitest";

/** The members of an API Gateway event that a test sets; the others have defaults. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly pathParameters?: Readonly<Record<string, string>> | null;
  readonly queryStringParameters?: Readonly<Record<string, string>> | null;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly authorizer?: unknown;
}

/** The API Gateway event of a request from 192.0.2.1. */
export function eventOf({ authorizer, ...sent }: Sent = {}) {
  return {
    headers: {},
    pathParameters: null,
    queryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    ...sent,
    requestContext: { identity: { sourceIp: "192.0.2.1" }, authorizer },
  };
}

/** The authorizer context of a valid token, of a new client unless one is given. */
export function authorizerContext(members: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    client: crypto.randomUUID(),
    scope: "qos-profiles:read",
    expires: String(Math.floor(Date.now() / 1_000) + 600),
    principalId: "principal",
    integrationLatency: 3,
    ...members,
  };
}

/** Captures everything that this process writes to stdout and stderr until it is stopped. */
export function captureOutput(): { readonly text: () => string; readonly stop: () => void } {
  const chunks: string[] = [];
  const keep = (chunk: unknown) => {
    chunks.push(chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : String(chunk));
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(keep),
    vi.spyOn(process.stderr, "write").mockImplementation(keep),
    ...(["debug", "error", "info", "log", "trace", "warn"] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation((...written: unknown[]) => {
        chunks.push(`${written.map(String).join(" ")}\n`);
      }),
    ),
  ];
  return {
    text: () => chunks.join(""),
    stop: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}
