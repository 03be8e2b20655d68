import { expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { replayEvent } from "../support/replay-event.ts";

/** What differs from one run to the next, and what is recorded in its place, by area. */
const masks: Readonly<Record<string, readonly (readonly [varying: RegExp, mask: string])[]>> = {
  "device-identifier": [[/"ppid":"[0-9a-f]{64}"/, '"ppid":"<64 digits>"']],
  keys: [[/"(x|y|kid)":"[\w-]+"/g, '"$1":"<key>"']],
  "number-recycling": [],
  "population-density": [
    [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
    [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>"],
    // Fewer people are in the cells at night.
    [/"(\w*plDensity)":(?:\d+|null|\[[\d,nul]+\])/g, '"$1":<people>'],
    [/"dataType":"(?:DENSITY_ESTIMATION|LOW_DENSITY)"(?:,"\w*plDensity":<people>)*/g, '"dataType":<density>'],
    [/"dataType":\[(?:,?"(?:LOW_DENSITY|DENSITY_ESTIMATION)")+\]/g, '"dataType":[<density>]'],
    [/(?:DENSITY_ESTIMATION(?:,\d+){3}|LOW_DENSITY,,,)/g, "<density>"],
    [/"(people|minPeople|maxPeople|cells|areaKm2)":[\d.]+/g, '"$1":<number>'],
    [/"densestCell":(?:null|\{[^}]*\})/g, '"densestCell":<cell>'],
    [/^(<time>,<time>)(?:,\d*){3},.*(?:true|false)/gm, "$1,<summary>"],
    [/\r/g, "␍"],
  ],
  profile: [[/"(access_token|DateLastLogin)":"[^"]+"/g, '"$1":"<varies>"']],
  "qos-profiles": [],
};

/** Successes that depend on what else is stored for the caller. */
const dependsOnOthers = /^population-density\/(?:capabilities|\w+-operations?|\w+-webhook-secrets?)\.2/;

const specified = new Set(endpoints.map(({ path }): string => path));
const names = eventFileNames().filter(
  (name) => masks[areaOf(name)] !== undefined && !dependsOnOthers.test(name),
);
const events = (
  await Promise.all(names.map(async (name) => ({ name, ...(await readNamedEvent(name)) })))
).filter(({ event }) => specified.has((event as { readonly resource: string }).resource));

function areaOf(name: string): string {
  return name.split("/")[0] ?? "";
}

// `docs/openapi.json` is the record of the area openapi. To record again, on purpose:
// npx vitest run test/contract/recorded-answers.test.ts -u
test("every answer on a path of the specification is the recorded one, byte by byte", async () => {
  const answers: string[] = [];
  for (const { name, functionId, event } of events) {
    const { statusCode, body } = await replayEvent(functionId, event);
    const masked = (masks[areaOf(name)] ?? []).reduce(
      (text, [varying, mask]) => text.replace(varying, mask),
      body,
    );
    answers.push(`${name}\n${statusCode} ${masked}\n`);
  }
  await expect(answers.join("\n")).toMatchFileSnapshot("recorded-answers.txt");
}, 300_000);
