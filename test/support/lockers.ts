import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { jsonIn } from "../../tools/verify/run-scenario.ts";

interface Query {
  readonly name?: string;
  readonly status?: string;
  readonly device?: { readonly phoneNumber?: string };
  readonly area?: { readonly boundary: readonly { readonly latitude: number }[] };
  readonly startTime?: string;
  readonly endTime?: string;
  readonly sink?: string;
  readonly sinkCredential?: { readonly accessToken: string };
}

const lockers = [
  { name: "SMALL", status: "ACTIVE" },
  { name: "LARGE", status: "INACTIVE" },
];

/**
 * Serves the API of `test/tools/features/lockers.yaml` as its features expect.
 * @param pseudonymFor what a token's client is answered as the pseudonym of the one device.
 */
export async function openLockers(pseudonymFor = (token: string) => `${token} 1`): Promise<ListeningServer> {
  return await listen(
    createServer(async (request, response) => {
      const query = (jsonIn(await text(request)) ?? {}) as Query;
      const { status, body } = answerTo(request, query, pseudonymFor);
      respond(request, response, status, body);
      if (status === 202 && query.sink !== undefined) await deliver(query, body);
    }),
    0,
  );
}

/** Answers as an operation of an API does, with the correlator. */
function respond(request: IncomingMessage, response: ServerResponse, status: number, body: unknown): void {
  const correlator = request.headers["x-correlator"];
  const headers = {
    "content-type": "application/json; charset=utf-8",
    ...(correlator === undefined ? {} : { "x-correlator": correlator }),
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

function answerTo(
  { url = "", headers: { authorization = "" } }: IncomingMessage,
  query: Query,
  pseudonymFor: (token: string) => string,
): { status: number; body: unknown } {
  const error = (status: number, code: string) => ({
    status,
    body: { status, code, message: "The request is refused." },
  });
  const token = authorization.replace("Bearer ", "");
  if (!["valid", "of SIMCARD1", "of another client"].includes(token)) return error(401, "UNAUTHENTICATED");
  if (url === "/lockers/v1/find") return { status: 200, body: found(query) };
  if (url === "/lockers/v1/identify") {
    return { status: 200, body: { ...identified, ppid: pseudonymFor(token) } };
  }
  if (url === "/lockers/v1/measure") {
    if (query.sink !== undefined) return { status: 202, body: { operationId: crypto.randomUUID() } };
    return { status: 200, body: measured(query) };
  }
  const body = lockers.find(({ name }) => url.endsWith(`/${name}`));
  return body === undefined ? error(404, "NOT_FOUND") : { status: 200, body };
}

function found({ name, status, device }: Query) {
  if (device?.phoneNumber === "+34600000003") return [];
  const all = device === undefined ? lockers : [...lockers, { name: "VAULT", status: "ACTIVE" }];
  return all.filter((one) => (name ?? one.name) === one.name && (status ?? one.status) === one.status);
}

const identified = {
  imei: "490154203237518",
  model: "3110",
  lastChecked: "2026-02-20T10:41:38.657Z",
  recycled: false,
};

function measured({ area, startTime, endTime }: Query) {
  if (area?.boundary[0]?.latitude === 10) return { status: "AREA_NOT_SUPPORTED", hours: [] };
  const cells = [
    { geohash: "u05kq9", dataType: "LOW" },
    { geohash: "u05kq8", dataType: "ESTIMATE", people: 12 },
  ];
  return { status: "SUPPORTED_AREA", hours: [{ startTime, endTime, cells }] };
}

/** Tries twice, then says that the operation failed. */
async function deliver({ sink = "", sinkCredential, ...query }: Query, accepted: unknown): Promise<void> {
  const failed = { status: "OPERATION_NOT_COMPLETED", statusInfo: "The sink takes no answer.", hours: [] };
  for (const answer of [measured(query), measured(query), failed]) {
    const { ok } = await fetch(sink, {
      method: "POST",
      headers: { authorization: `Bearer ${sinkCredential?.accessToken}` },
      body: JSON.stringify({ ...answer, ...(accepted as object) }),
      signal: AbortSignal.timeout(5_000),
    });
    if (ok) return;
  }
}
