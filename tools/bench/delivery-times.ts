import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { importJWK, SignJWT } from "jose";
import {
  uploadsPerCallerAndHost,
  uploadsPerHost,
} from "../../functions/population-density/delivery/permit-rules.ts";
import { hourMilliseconds } from "../../shared/calendar.ts";
import { configuration } from "../../shared/environment.ts";
import { privateJwk } from "../../shared/tokens/token.ts";
import { makeAssembly } from "../assembly.ts";
import { startDemoService } from "../local/demo-service.ts";
import { demoData } from "../local/demo-tables.ts";
import type { LocalService } from "../local/service.ts";
import type { Row } from "./bench.ts";

/** How many deliveries a caller and many callers get through a local run, over HTTP and the embedded queue. */
export async function deliveryTimes(): Promise<readonly Row[]> {
  const { assembly, remove } = await makeAssembly();
  const service = await startDemoService({
    assembly,
    environment: { DENSITY_PENDING_LIMIT: "100", LOG_LEVEL: "ERROR", RATE_LIMIT_PER_MINUTE: "100000" },
    port: 0,
    data: demoData,
    logs: { write: () => true },
  });
  try {
    const tokenOf = await signer(service);
    // The functions are warm: what is measured is the delivery.
    const [warm] = await openSinks(1, 0);
    if (warm !== undefined) {
      await deliver(service, 8, () => warm.url, await tokenOf("warm"));
      await closeSinks([warm]);
    }
    const [one] = await openSinks(1, 30);
    if (one === undefined) throw new Error("no sink");
    const seconds = await deliver(service, 100, () => one.url, await tokenOf("one"));
    const sinks = await openSinks(40, 300);
    const tokens = await Promise.all(sinks.map((_, index) => tokenOf(`caller-${index}`)));
    const manySeconds = await deliver(service, 40, (index) => sinks[index]?.url ?? "", ...tokens);
    const rows = [
      row("100 small answers of one caller to one host, a sink that takes 30 ms", seconds, 20),
      limitRow("uploads of one caller to one host at a time", one.maxAtOnce(), uploadsPerCallerAndHost),
      row("40 answers of 40 callers to 40 hosts, sinks that take 300 ms", manySeconds, 20),
      limitRow(
        "uploads to one of these hosts at a time",
        Math.max(...sinks.map((sink) => sink.maxAtOnce())),
        uploadsPerHost,
      ),
    ];
    await closeSinks([one, ...sinks]);
    const five = await Promise.all([1, 2, 3, 4, 5].map((caller) => tokenOf(`of-five-${caller}`)));
    for (const uploadSeconds of [1, 10]) rows.push(await burstRow(service, five, uploadSeconds));
    return rows;
  } finally {
    await service.close();
    remove();
  }
}

/** Jobs of each of some callers to one host. */
const jobsOfCaller = 20;

/** How long some callers' uploads to one host take, over the time in which all of its permits would always be in use. */
async function burstRow(
  service: LocalService,
  tokens: readonly string[],
  uploadSeconds: number,
): Promise<Row> {
  const [sink] = await openSinks(1, uploadSeconds * 1_000);
  if (sink === undefined) throw new Error("no sink");
  const count = tokens.length * jobsOfCaller;
  const seconds = await deliver(service, count, () => sink.url, ...tokens);
  await closeSinks([sink]);
  const ratio = seconds / ((count * uploadSeconds) / uploadsPerHost);
  return {
    what: `${tokens.length} callers × ${jobsOfCaller} answers to one host, a sink that takes ${uploadSeconds} s, over the ideal`,
    measured: `${ratio.toFixed(2)} × (${seconds.toFixed(1)} s)`,
    bar: "≤ 1.25 ×",
    holds: ratio <= 1.25,
  };
}

interface BenchSink {
  readonly url: string;
  readonly server: Server;
  readonly maxAtOnce: () => number;
}

/** What is delivered so far, and what to do when another is. */
const deliveredIds = new Set<string>();
const delivered = new Map<string, () => void>();

/** Sinks that take an answer and say so after some milliseconds. */
async function openSinks(count: number, milliseconds: number): Promise<readonly BenchSink[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      let [atOnce, max] = [0, 0];
      const server = createServer((request, response) => {
        max = Math.max(max, ++atOnce);
        response.once("close", () => atOnce--);
        request.resume().on("end", () => {
          setTimeout(() => {
            const id = String(request.headers["webhook-id"]);
            response.writeHead(204).end();
            deliveredIds.add(id);
            delivered.get(id)?.();
          }, milliseconds);
        });
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${port}/`, server, maxAtOnce: () => max };
    }),
  );
}

async function closeSinks(sinks: readonly BenchSink[]): Promise<void> {
  for (const { server } of sinks) {
    server.close();
    server.closeAllConnections();
  }
}

async function signer(service: LocalService): Promise<(client: string) => Promise<string>> {
  const functions = service.template.functions.map(({ logicalId }) => service.environmentOf(logicalId));
  const SecretId = functions.map(({ SIGNING_KEY_SECRET_ARN }) => SIGNING_KEY_SECRET_ARN).find((arn) => arn);
  const secrets = new SecretsManagerClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    endpoint: service.secretsEndpoint,
  });
  const { SecretString = "" } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  secrets.destroy();
  const { kid, ...jwk } = privateJwk.parse(JSON.parse(SecretString));
  const key = await importJWK(jwk, "ES256");
  return async (client) =>
    await new SignJWT({ client_id: client, scope: "population-density-data:read" })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
      .setIssuer(configuration.TOKEN_ISSUER.default)
      .setAudience(configuration.TOKEN_AUDIENCE.default)
      .setSubject(client)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime("10m")
      .sign(key);
}

const lyon = [
  { latitude: 45.752, longitude: 4.86 },
  { latitude: 45.752, longitude: 4.864 },
  { latitude: 45.755, longitude: 4.862 },
];

/** Asks for so many answers at once. Returns the seconds from the first request to the last delivery. */
async function deliver(
  service: LocalService,
  count: number,
  sinkOf: (index: number) => string,
  ...tokens: readonly string[]
): Promise<number> {
  const start = (Math.floor(Date.now() / hourMilliseconds) + 1) * hourMilliseconds;
  const started = performance.now();
  const deliveries = Array.from({ length: count }, async (_, index) => {
    const response = await fetch(`${service.url}/populationdensitydata/retrieve`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens[index % tokens.length]}` },
      body: JSON.stringify({
        area: { areaType: "POLYGON", boundary: lyon },
        startTime: new Date(start).toISOString(),
        endTime: new Date(start + hourMilliseconds).toISOString(),
        sink: sinkOf(index),
      }),
    });
    const body = (await response.json()) as { operationId?: string };
    const { operationId } = body;
    if (response.status !== 202 || operationId === undefined)
      throw new Error(`refused with ${response.status}`);
    await until(operationId);
  });
  await Promise.all(deliveries);
  return (performance.now() - started) / 1_000;
}

/** Resolves when an operation is delivered; some are before their id is known here. */
async function until(operationId: string): Promise<void> {
  if (deliveredIds.has(operationId)) return;
  await new Promise<void>((resolve) => delivered.set(operationId, resolve));
}

function row(what: string, seconds: number, max: number): Row {
  return { what, measured: `${seconds.toFixed(1)} s`, bar: `≤ ${max} s`, holds: seconds <= max };
}

function limitRow(what: string, measured: number, max: number): Row {
  return { what, measured: String(measured), bar: `≤ ${max}`, holds: measured <= max };
}
