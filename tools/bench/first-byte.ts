import { once } from "node:events";
import { request } from "node:http";
import { atMost, inUnit, median, type Row, shown, sized } from "./bench.ts";
import { type Server, timeIn } from "./local-service.ts";

const maxMilliseconds = 50;
const rounds = sized(15, 1);
const hoursAsked = 7;
const milliseconds = inUnit("ms", 1);

/** What is measured by `firstByteRows`. */
export const aboutFirstByte = [
  "Then the densities of a city, seven hours with almost as many slots as a synchronous answer may have, one request",
  "after the other. “First byte” is the time from the request to the first byte of the body, “whole answer” to the last;",
  `medians of ${rounds} requests. The tiles are in the function's cache, except in the row of the first request for a day.`,
].join("\n");

/** When a caller gets the first byte of a large answer, and when the last. */
export async function firstByteRows(service: Server): Promise<Row[]> {
  await askRepeatedly(service, "gzip");
  const compressed = await askRepeatedly(service, "gzip");
  const plain = await askRepeatedly(service, "identity");
  const uncached = await ask(service, "gzip", 49);
  const slots = (plain[0]?.text.split('"geohash"').length ?? 1) - 1;
  return [
    shown("slots of a large answer", slots.toLocaleString("en")),
    ...rowsOf("gzip", compressed),
    ...rowsOf("not compressed", plain),
    shown("first byte, gzip, first request for a day", milliseconds(uncached.first)),
  ];
}

function rowsOf(name: string, measured: readonly Answer[]): Row[] {
  const first = median(measured.map((answer) => answer.first));
  const whole = median(measured.map((answer) => answer.whole));
  return [
    atMost(`first byte, ${name}`, first, maxMilliseconds, milliseconds),
    shown(`whole answer, ${name}`, milliseconds(whole)),
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

async function askRepeatedly(service: Server, encoding: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < rounds; round++) answers.push(await ask(service, encoding, 1));
  return answers;
}

/** Asks for the hours that begin some hours from now. */
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
