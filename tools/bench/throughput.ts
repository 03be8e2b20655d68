import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { chosenPort } from "../local/servers/listening-server.ts";
import {
  atLeast,
  atMost,
  type Bench,
  inUnit,
  median,
  megabytes,
  type Row,
  shown,
  sized,
  times,
} from "./bench.ts";
import { type Server, startService, timeIn, usageOf, withServer } from "./local-service.ts";

const connections = 10;
const warmUpMilliseconds = sized(20_000, 500);
const measuredMilliseconds = sized(10_000, 500);
const minPrismRatio = 0.75;
const prism = "@stoplight/prism-cli@5.16.0";
const pairs = sized(3, 1);
const maxBytes = 550_000_000;

/** How many requests `npm start` answers. */
export const throughput: Bench = {
  about: [
    `Densities of the README's request from \`npm start\`, over ${connections} connections that each send the next request`,
    `when they have an answer: medians of ${pairs} times ${measuredMilliseconds / 1_000} seconds. Limits of callers are lifted, and those of time are`,
    "ten times as long (`DEADLINE_FACTOR`), so that a busy machine answers; the tiles are in the function's cache.",
    `[Prism](https://github.com/stoplightio/prism) (${prism}) is a mock server that validates the same`,
    "request and answers with an example: nobody should have to leave the real service for a mock because of its speed. Both",
    "are measured in turn; the service works on two processors, the mock on one, so their ratio follows the machine.",
  ].join("\n"),
  run: async () =>
    await withServer(await startService(), async (service) => {
      await load(service, warmUpMilliseconds);
      const { own, ratios } = await measuredPairs(service);
      const ratio = "requests a second, over Prism's mock";
      return [
        shown("requests a second", inUnit("requests")(median(own.map(perSecond)))),
        shown("CPU a request", inUnit("ms", 2)(median(own.map(cpuMilliseconds)))),
        atMost("resident memory afterwards", own.at(-1)?.bytes ?? 0, maxBytes, megabytes),
        ratios === undefined
          ? shown(ratio, "not measured: Prism could not be installed")
          : atLeast(ratio, median(ratios), minPrismRatio, times),
      ] satisfies Row[];
    }),
};

type Measured = Awaited<ReturnType<typeof measure>>;

const perSecond = ({ requests }: Measured) => (1_000 * requests) / measuredMilliseconds;
const cpuMilliseconds = ({ requests, cpuSeconds }: Measured) => (1_000 * cpuSeconds) / requests;

/**
 * Measures the service in turn with Prism's mock, which is installed in a folder of its own, as nothing else of the
 * project needs it. There are no ratios if it cannot be installed.
 */
async function measuredPairs(service: Server): Promise<{ own: Measured[]; ratios?: number[] }> {
  const folder = temporaryFolder("bench-prism-");
  try {
    const isInstalled = await installPrism(folder.path);
    if (!isInstalled) return { own: [await measure(service)] };
    return await withServer(await startPrism(folder.path), async (mock) => {
      await load(mock, warmUpMilliseconds);
      const [own, ratios]: [Measured[], number[]] = [[], []];
      for (let pair = 0; pair < pairs; pair++) {
        const measured = await measure(service);
        own.push(measured);
        ratios.push(measured.requests / (await measure(mock)).requests);
      }
      return { own, ratios };
    });
  } finally {
    folder.remove();
  }
}

async function measure(server: Server) {
  const before = await usageOf(server);
  const requests = await load(server, measuredMilliseconds);
  const { cpuSeconds, bytes } = await usageOf(server);
  // The processor time of all threads of the server is steadier than requests a second where other programs run.
  return { requests, cpuSeconds: cpuSeconds - before.cpuSeconds, bytes };
}

async function installPrism(folder: string): Promise<boolean> {
  const options = ["--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  return await promisify(execFile)("npm", ["install", ...options, prism], { timeout: 300_000 }).then(
    () => true,
    () => false,
  );
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

/**
 * Sends the same request over some connections for some time. Returns how many were answered; an answer other than 200
 * fails.
 */
async function load({ url, token }: Server, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const area = { areaType: "POLYGON", boundary };
  const body = JSON.stringify({ area, startTime: timeIn(2), endTime: timeIn(4), precision: 7 });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
  const end = performance.now() + milliseconds;
  let answered = 0;
  const work = async () => {
    while (performance.now() < end) {
      const sent = request(`${url}/populationdensitydata/retrieve`, { method: "POST", agent, headers });
      sent.end(body);
      const [response] = await once(sent, "response");
      if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
      await once(response.resume(), "end");
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
