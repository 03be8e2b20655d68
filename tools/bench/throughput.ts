import { once } from "node:events";
import { Agent, request } from "node:http";
import * as z from "zod";
import { atLeast, atMost, type Bench, inUnit, mebibytes, type Row, shown, times } from "./bench.ts";
import { aboutFirstByte, firstByteRows } from "./first-byte.ts";
import { type Server, startService, timeIn, usageOf, withServer } from "./local-service.ts";
import { forkProgram } from "./process.ts";

const connections = 10;
const warmUpMilliseconds = 20_000;
const measuredMilliseconds = 10_000;
const minRequests = 300;
const maxRatio = 15;
const maxBytes = 900 * 2 ** 20;

/** How many requests `npm start` answers, and how soon. */
export const throughput: Bench = {
  about: [
    `Densities of the README's request from \`npm start\`, over ${connections} connections that each send the next request`,
    `when they have an answer: ${measuredMilliseconds / 1_000} seconds, after ${warmUpMilliseconds / 1_000} of warming up.`,
    "Limits of callers are lifted. Every request passes the gateway, its function and the count of the quota in DynamoDB;",
    "the tiles are in the function's cache. CPU is that of all threads of the server. The comparison is a server of",
    "`node:http` that parses the same request and sends the same answer (`tools/bench/programs/plain-server.ts`), measured in the",
    "same way.",
    "",
    aboutFirstByte,
  ].join("\n"),
  run: async () =>
    await withServer(await startService(), async (service) => {
      const measured = await measure(service);
      const plain = await withServer(await startPlainServer(await answerOf(service)), measure);
      return [
        atLeast("requests a second", measured.perSecond, minRequests, inUnit("requests")),
        shown("requests a second of `node:http`", inUnit("requests")(plain.perSecond)),
        shown("CPU a request", inUnit("ms", 2)(measured.cpuMilliseconds)),
        shown("CPU a request of `node:http`", inUnit("ms", 2)(plain.cpuMilliseconds)),
        atMost(
          "CPU a request, over that of `node:http`",
          measured.cpuMilliseconds / plain.cpuMilliseconds,
          maxRatio,
          times,
        ),
        atMost("resident memory afterwards", measured.bytes, maxBytes, mebibytes),
        ...(await firstByteRows(service)),
      ] satisfies Row[];
    }),
};

interface Measured {
  readonly perSecond: number;
  /** Of all threads of the server; steadier than requests a second where other programs run. */
  readonly cpuMilliseconds: number;
  readonly bytes: number;
}

async function measure(server: Server): Promise<Measured> {
  await load(server, warmUpMilliseconds);
  const before = await usageOf(server);
  const requests = await load(server, measuredMilliseconds);
  const { cpuSeconds, bytes } = await usageOf(server);
  return {
    perSecond: (1_000 * requests) / measuredMilliseconds,
    cpuMilliseconds: (1_000 * (cpuSeconds - before.cpuSeconds)) / requests,
    bytes,
  };
}

async function startPlainServer(answer: unknown): Promise<Server> {
  const child = forkProgram("plain-server.ts", []);
  child.send({ answer });
  const [url] = await once(child, "message", { signal: AbortSignal.timeout(60_000) });
  return { process: child, url: z.string().parse(url), token: "any" };
}

const boundary = [
  { latitude: 45.754114, longitude: 4.860374 },
  { latitude: 45.753845, longitude: 4.863185 },
  { latitude: 45.75249, longitude: 4.861876 },
  { latitude: 45.751224, longitude: 4.861125 },
  { latitude: 45.751442, longitude: 4.859827 },
];

/** The request that is sent again and again. */
function requestTo({ url, token }: Server) {
  const area = { areaType: "POLYGON", boundary };
  const body = JSON.stringify({ area, startTime: timeIn(1), endTime: timeIn(3), precision: 7 });
  return {
    url: `${url}/populationdensitydata/retrieve`,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    },
    body,
  };
}

async function answerOf(server: Server): Promise<unknown> {
  const { url, headers, body } = requestTo(server);
  const response = await fetch(url, { method: "POST", headers, body });
  if (response.status !== 200) throw new Error(`answered ${response.status}`);
  return await response.json();
}

/** Sends requests for some time. Returns how many were answered; an answer other than 200 fails. */
async function load(server: Server, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { url, headers, body } = requestTo(server);
  const end = performance.now() + milliseconds;
  let answered = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url, { method: "POST", agent, headers });
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
