import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { suffixesOf } from "../../functions/population-density/cover/geohash.ts";

const suffixes = suffixesOf(2);
const hours = Array.from({ length: 24 }, (_, hour) => `2026-11-20T${String(hour).padStart(2, "0")}:00:00Z`);

/** Counted people as an operator's program writes them, hour by hour: every cell of tiles that adjoin. */
export function* countedPeople(tiles: number): Generator<string> {
  yield "geohash,startTime,people,minPeople,maxPeople\n";
  let people = 1;
  for (let tile = 0; tile < tiles; tile++) {
    const geohash = `u${suffixes[Math.floor(tile / 1_024)]}${suffixes[tile % 1_024]}`;
    for (const hour of hours) {
      let rows = "";
      for (const suffix of suffixes) {
        people = (people * 48_271) % 2_147_483_647;
        const counted = people % 250;
        rows += `${geohash}${suffix},${hour},${counted}.5,${counted},${counted + 1}\n`;
      }
      yield rows;
    }
  }
}

/** Devices as NDJSON, each with five identifiers. */
export function* deviceLines(count: number): Generator<string> {
  const linesAtOnce = 1_000;
  for (let first = 0; first < count; first += linesAtOnce) {
    let lines = "";
    for (let index = first; index < Math.min(count, first + linesAtOnce); index++) {
      lines += `${JSON.stringify(deviceAt(index))}\n`;
    }
    yield lines;
  }
}

function deviceAt(index: number) {
  const [high, low] = [Math.floor(index / 250), index % 250];
  const block = `${Math.floor(high / 250) % 250}.${high % 250}.${low}`;
  return {
    subscription: `subscription-${index}`,
    phoneNumber: `+34${String(600_000_000 + index)}`,
    ipv4Addresses: [
      { publicAddress: `84.${block}`, publicPort: 40_000 + (index % 20_000), privateAddress: `10.${block}` },
    ],
    ipv6Prefix: `2001:db8:${high.toString(16)}:${low.toString(16)}::/64`,
    country: "ES",
    network: "21407",
    imei: "490154203237518",
    softwareVersion: "01",
    model: "3110",
    manufacturer: "Nokia",
    lastChecked: "2026-02-20T10:41:38Z",
    identifierConsent: true,
  };
}

/** Writes texts to a file or a pipe, no faster than they are taken. */
export async function writeTexts(path: string, texts: Iterable<string>): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 2 ** 20 });
  for (const text of texts) if (!file.write(text)) await once(file, "drain");
  file.end();
  await once(file, "finish");
}
