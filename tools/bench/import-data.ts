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

/** Writes texts to a file or a pipe, no faster than they are taken. */
export async function writeTexts(path: string, texts: Iterable<string>): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 2 ** 20 });
  for (const text of texts) if (!file.write(text)) await once(file, "drain");
  file.end();
  await once(file, "finish");
}
