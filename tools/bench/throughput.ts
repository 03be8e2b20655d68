import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { chosenPort } from "../local/servers/listening-server.ts";
import {
  atLeast,
  atMost,
  type Bench,
  inUnit,
  mebibytes,
  median,
  type Row,
  shown,
  sized,
  times,
} from "./bench.ts";
import { aboutFirstByte, firstByteRows } from "./first-byte.ts";
import { type Server, startService, timeIn, usageOf, withServer } from "./local-service.ts";
import { forkProgram } from "./process.ts";

const connections = 10;
const warmUpMilliseconds = sized(20_000, 500);
const measuredMilliseconds = sized(10_000, 500);
const minRequests = 300;
const maxRatio = 15;
const minPrismRatio = 1.5;
const prism = "@stoplight/prism-cli@5.16.0";
const pairs = sized(3, 1);
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
    `Prism is the mock server of [Stoplight](https://github.com/stoplightio/prism) (${prism}), which validates the same request`,
    "and answers with the example of the OpenAPI document: no cell is computed, no token verified, nothing counted. Both are",
    `warm, and measured in turn: the ratio is the median of ${pairs} pairs.`,
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
        ...(await prismRows(service)),
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

/** Installs Prism in a folder of its own, as nothing else of the project needs it, and serves its mock next to the service. */
async function prismRows(service: Server): Promise<Row[]> {
  const what = "requests a second, over Prism's mock";
  const folder = temporaryFolder("bench-prism-");
  try {
    const install = [
      "install",
      "--prefix",
      folder.path,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      prism,
    ];
    try {
      await promisify(execFile)("npm", install, { timeout: 300_000 });
    } catch {
      return [shown(what, "not measured: Prism could not be installed")];
    }
    return await withServer(await startPrism(folder.path), async (mock) => {
      await load(mock, warmUpMilliseconds);
      const ratios: number[] = [];
      for (let pair = 0; pair < pairs; pair++) {
        const own = await load(service, measuredMilliseconds);
        ratios.push(own / (await load(mock, measuredMilliseconds)));
      }
      return [atLeast(what, median(ratios), minPrismRatio, times)];
    });
  } finally {
    folder.remove();
  }
}

async function startPrism(folder: string): Promise<Server> {
  const port = await chosenPort(0);
  const document = fileURLToPath(new URL("../../docs/openapi.json", import.meta.url));
  const program = join(folder, "node_modules/@stoplight/prism-cli/dist/index.js");
  const child = spawn(process.execPath, [program, "mock", "-p", String(port), document], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 100; attempt++) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return { process: child, url, token: "any" };
    await wait(300);
  }
  child.kill();
  throw new Error("Prism does not listen");
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
