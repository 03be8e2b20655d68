import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import type { Bench, Row } from "./bench.ts";
import { type Server, startService, timeIn, usageOf, written } from "./local-service.ts";

const connections = 10;
const warmUpMilliseconds = 20_000;
const measuredMilliseconds = 10_000;
const minRequests = 300;
const maxMebibytes = 900;

/** How many requests `npm start` answers. */
export const throughput: Bench = {
  about: [
    `Densities of the README's request from \`npm start\`, over ${connections} connections that each send the next request`,
    `when they have an answer: ${measuredMilliseconds / 1_000} seconds, after ${warmUpMilliseconds / 1_000} of warming up.`,
    "Limits of callers are lifted. Every request passes the gateway, its function and the count of the quota in DynamoDB;",
    "the tiles are in the function's cache. If `PRISM` is the path of Prism's `dist/index.js` (`@stoplight/prism-cli`, which",
    "is not a dependency), its answers from the OpenAPI document's example are measured in the same way for comparison.",
  ].join("\n"),
  run: async () => {
    const service = await measured(startService);
    const { PRISM: prism } = process.env;
    const mock = prism === undefined ? undefined : await measured(() => startPrism(prism));
    const ratio = service.perSecond / (mock?.perSecond ?? Number.NaN);
    return [
      {
        what: "requests a second",
        measured: service.perSecond.toFixed(0),
        ...(mock === undefined
          ? { bar: `≥ ${minRequests}`, holds: service.perSecond >= minRequests }
          : { holds: true }),
      },
      ...(mock === undefined
        ? []
        : [
            shown("requests a second of Prism", mock.perSecond.toFixed(0)),
            {
              what: "requests over those of Prism",
              measured: `${ratio.toFixed(2)} ×`,
              bar: "≥ 1 ×",
              holds: ratio >= 1,
            },
          ]),
      shown("CPU a request", `${service.cpuMilliseconds.toFixed(2)} ms`),
      ...(mock === undefined
        ? []
        : [shown("CPU a request of Prism", `${mock.cpuMilliseconds.toFixed(2)} ms`)]),
      {
        what: "resident memory afterwards",
        measured: `${service.mebibytes.toFixed(0)} MiB`,
        bar: `≤ ${maxMebibytes} MiB`,
        holds: service.mebibytes <= maxMebibytes,
      },
    ];
  },
};

interface Measured {
  readonly perSecond: number;
  /** Of all threads of the server; steadier than requests a second where other programs run. */
  readonly cpuMilliseconds: number;
  readonly mebibytes: number;
}

async function measured(start: () => Promise<Server>): Promise<Measured> {
  const server = await start();
  const end = () => server.process.kill();
  process.once("exit", end);
  try {
    await load(server, warmUpMilliseconds);
    const before = await usageOf(server);
    const requests = await load(server, measuredMilliseconds);
    const { cpuSeconds, mebibytes } = await usageOf(server);
    return {
      perSecond: (1_000 * requests) / measuredMilliseconds,
      cpuMilliseconds: (1_000 * (cpuSeconds - before.cpuSeconds)) / requests,
      mebibytes,
    };
  } finally {
    process.off("exit", end);
    const ended = once(server.process, "exit");
    end();
    await ended;
  }
}

async function startPrism(program: string): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, [program, "mock", "-p", String(port), "docs/openapi.json"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await written(child, /listening on (\S+)/i);
  return { process: child, url: `http://127.0.0.1:${port}`, token: "any" };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

const boundary = [
  { latitude: 45.754114, longitude: 4.860374 },
  { latitude: 45.753845, longitude: 4.863185 },
  { latitude: 45.75249, longitude: 4.861876 },
  { latitude: 45.751224, longitude: 4.861125 },
  { latitude: 45.751442, longitude: 4.859827 },
];

/** Sends requests for some time. Returns how many were answered; an answer other than 200 fails. */
async function load({ url, token }: Server, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const area = { areaType: "POLYGON", boundary };
  const body = JSON.stringify({ area, startTime: timeIn(1), endTime: timeIn(3), precision: 7 });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
  const end = performance.now() + milliseconds;
  let answered = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`${url}/populationdensitydata/retrieve`, { method: "POST", agent, headers });
      sent.once("error", reject).once("response", (response) => {
        if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`));
        response.once("error", reject).once("end", resolve).resume();
      });
      sent.end(body);
    });
  const work = async () => {
    while (performance.now() < end) {
      await send();
      answered++;
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, work));
  } finally {
    agent.destroy();
  }
  return answered;
}

function shown(what: string, measured: string): Row {
  return { what, measured, holds: true };
}
