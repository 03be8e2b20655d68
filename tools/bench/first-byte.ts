import { once } from "node:events";
import { request } from "node:http";
import { type Bench, median, type Row } from "./bench.ts";
import { type Server, startService, timeIn } from "./local-service.ts";

const maxMilliseconds = 50;
const rounds = 15;

/** When a caller of `npm start` gets the first byte of a large answer, and when the last. */
export const firstByte: Bench = {
  about: [
    "Densities of a city, seven hours with almost as many slots as a synchronous answer may have, from `npm start`.",
    "“First byte” is the time from the request to the first byte of the body, “whole answer” to the last; medians of",
    `${rounds} requests, after as many of warming up. Every request passes the gateway, its function and the count of the`,
    "quota. The tiles are in the function's cache, except in the row of the first request for a day.",
  ].join("\n"),
  run: async () => {
    const service = await startService();
    const end = () => service.process.kill();
    process.once("exit", end);
    try {
      return await rows(service);
    } finally {
      process.off("exit", end);
      const ended = once(service.process, "exit");
      end();
      await ended;
    }
  },
};

async function rows(service: Server): Promise<Row[]> {
  await several(service, "gzip", 1);
  const uncached = median((await several(service, "gzip", 49)).slice(0, 1).map(({ first }) => first));
  const compressed = await several(service, "gzip", 1);
  const plain = await several(service, "identity", 1);
  const slots = plain[0]?.text.split('"geohash"').length ?? 1;
  const rowsOf = (name: string, measured: readonly Answer[]): Row[] => {
    const first = median(measured.map((answer) => answer.first));
    const whole = median(measured.map((answer) => answer.whole));
    return [
      {
        what: `first byte, ${name}`,
        measured: `${first.toFixed(1)} ms`,
        bar: `≤ ${maxMilliseconds} ms`,
        holds: first <= maxMilliseconds,
      },
      { what: `whole answer, ${name}`, measured: `${whole.toFixed(1)} ms`, holds: true },
    ];
  };
  return [
    { what: "slots of the answer", measured: String(slots - 1), holds: true },
    ...rowsOf("gzip", compressed),
    ...rowsOf("not compressed", plain),
    { what: "first byte, gzip, first request for a day", measured: `${uncached.toFixed(1)} ms`, holds: true },
  ];
}

interface Answer {
  /** Milliseconds from the request to the first and to the last byte of the body. */
  readonly first: number;
  readonly whole: number;
  /** The body, where it is not compressed. */
  readonly text: string;
}

// What the demo data cover: 73 × 73 cells of precision 7 around the centre of Lyon.
const boundary = [
  { latitude: 45.7, longitude: 4.8 },
  { latitude: 45.7, longitude: 4.9 },
  { latitude: 45.8, longitude: 4.9 },
  { latitude: 45.8, longitude: 4.8 },
];
const hoursAsked = 7;

/** Asks one after the other for the hours that begin some hours from now. */
async function several(service: Server, encoding: string, hours: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < rounds; round++) answers.push(await ask(service, encoding, hours));
  return answers;
}

async function ask({ url, token }: Server, encoding: string, hours: number): Promise<Answer> {
  const area = { areaType: "POLYGON", boundary };
  const body = JSON.stringify({
    area,
    startTime: timeIn(hours),
    endTime: timeIn(hours + hoursAsked),
    precision: 7,
  });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "accept-encoding": encoding,
  };
  const begun = performance.now();
  const sent = request(`${url}/populationdensitydata/retrieve`, { method: "POST", headers }).end(body);
  const [response] = await once(sent, "response");
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
  let first = Number.NaN;
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    if (chunks.length === 0) first = performance.now() - begun;
    chunks.push(chunk);
  }
  const whole = performance.now() - begun;
  return { first, whole, text: encoding === "identity" ? Buffer.concat(chunks).toString() : "" };
}
