import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Bench, Row } from "./bench.ts";
import { type Server, startService, timeIn, usageOf } from "./local-service.ts";

const atOnce = 100;
const floods = 2;
const maxAcceptSeconds = 3;
const restSeconds = 60;
const maxMebibytes = 600;
const maxDeliverySeconds = 300;

/** How soon `npm start` accepts orders that come at once, and what they leave behind. */
export const orders: Bench = {
  about: [
    `${atOnce} orders of one caller at once, of answers to a sink that takes 30 ms for each, from \`npm start\` with the demo`,
    "data: first with no function running, then again when all are delivered. Client and sink run on the same machine.",
    `Memory is that of the whole program, ${restSeconds} seconds after the last delivery.`,
  ].join("\n"),
  run: async () => {
    const service = await startService();
    const end = () => service.process.kill();
    process.once("exit", end);
    const sink = await openSink();
    try {
      const before = await usageOf(service);
      const rows: Row[] = [shown("resident memory before", before.mebibytes)];
      for (let flood = 1; flood <= floods; flood++) {
        const seconds = await order(service, sink.url);
        await sink.delivered(flood * atOnce);
        rows.push({
          what: `${atOnce} orders accepted, ${flood === 1 ? "cold" : "warm"}`,
          measured: `${seconds.toFixed(1)} s`,
          bar: `≤ ${maxAcceptSeconds} s`,
          holds: seconds <= maxAcceptSeconds,
        });
      }
      rows.push(shown("resident memory at the last delivery", (await usageOf(service)).mebibytes));
      await wait(restSeconds * 1_000);
      const { mebibytes } = await usageOf(service);
      rows.push({
        ...shown(`resident memory ${restSeconds} s later`, mebibytes),
        bar: `≤ ${maxMebibytes} MiB`,
        holds: mebibytes <= maxMebibytes,
      });
      return rows;
    } finally {
      process.off("exit", end);
      const ended = once(service.process, "exit");
      end();
      await ended;
      sink.server.close();
      sink.server.closeAllConnections();
    }
  },
};

interface Sink {
  readonly url: string;
  readonly server: HttpServer;
  /** Resolves when so many answers are delivered. */
  readonly delivered: (count: number) => Promise<void>;
}

async function openSink(): Promise<Sink> {
  const ids = new Set<string>();
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      setTimeout(() => {
        response.writeHead(204).end();
        ids.add(String(request.headers["webhook-id"]));
      }, 30);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const delivered = async (count: number) => {
    const deadline = performance.now() + maxDeliverySeconds * 1_000;
    while (ids.size < count) {
      if (performance.now() > deadline) throw new Error(`${ids.size} of ${count} answers are delivered`);
      await wait(50);
    }
  };
  return { url: `http://127.0.0.1:${port}/`, server, delivered };
}

const boundary = [
  { latitude: 45.752, longitude: 4.86 },
  { latitude: 45.752, longitude: 4.864 },
  { latitude: 45.755, longitude: 4.862 },
];

/** Sends the orders. Returns the seconds until the last one was accepted. */
async function order({ url, token }: Server, sink: string): Promise<number> {
  const area = { areaType: "POLYGON", boundary };
  const body = JSON.stringify({ area, startTime: timeIn(1), endTime: timeIn(2), sink });
  const headers = { authorization: `Bearer ${token}` };
  const startedAt = performance.now();
  const sent = Array.from({ length: atOnce }, async () => {
    const response = await fetch(`${url}/populationdensitydata/retrieve`, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.status !== 202) throw new Error(`refused with ${response.status}`);
  });
  await Promise.all(sent);
  return (performance.now() - startedAt) / 1_000;
}

function shown(what: string, mebibytes: number): Row {
  return { what, measured: `${mebibytes.toFixed(0)} MiB`, holds: true };
}
