import { expect, test } from "vitest";
import document from "../../docs/openapi.json" with { type: "json" };
import { dayMilliseconds, hourMilliseconds } from "../../shared/calendar.ts";
import { tokenWith } from "../support/client.ts";
import { everyScope } from "../support/scopes.ts";
import { sharedService } from "../support/service.ts";

// The examples of the OpenAPI document are what the demo answers.

const { examples } = document.components;
const request = examples["retrievePopulationDensity.request"].value;
const day = Date.parse("2026-11-23T00:00:00Z");

/** The offset of the demo's time zone from UTC. */
function offsetAt(milliseconds: number): number {
  const local = new Date(milliseconds).toLocaleString("sv-SE", { timeZone: "Europe/Paris" });
  return Date.parse(`${local.replace(" ", "T")}Z`) - milliseconds;
}

/** From the example's hours to those of a Monday to come with the same local time: typical days follow it. */
function moveToComingMonday(): number {
  const weeks = Math.ceil((Date.now() + dayMilliseconds - day) / (7 * dayMilliseconds));
  const moved = weeks * 7 * dayMilliseconds;
  return moved + offsetAt(day) - offsetAt(day + moved + 11 * hourMilliseconds);
}

/** A text with its times moved. */
function moved(text: string, milliseconds: number): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:00Z/g, (time) =>
    new Date(Date.parse(time) + milliseconds).toISOString().replace(".000", ""),
  );
}

function token(): Promise<string> {
  const client = crypto.randomUUID();
  return tokenWith({ scope: everyScope.join(" "), sub: client, client_id: client });
}

/** What the service answers to the example request in the week to come, in the week of the example. */
async function answerTo(path: string, accept: string): Promise<string> {
  const move = moveToComingMonday();
  const response = await fetch(`${sharedService.url}/populationdensitydata/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${await token()}`, accept },
    body: moved(JSON.stringify(request), move),
    signal: AbortSignal.timeout(60_000),
  });
  expect(response.status).toBe(200);
  return moved(await response.text(), -move);
}

const [json, geoJson] = ["application/json", "application/geo+json"];

test.each([
  ["retrieve", json, examples["retrievePopulationDensity.200"].value],
  ["retrieve", geoJson, examples["retrievePopulationDensity.200.geo-json"].value],
  ["retrieve?featuresPer=HOUR", geoJson, examples["retrievePopulationDensity.200.geo-json.2"].value],
  ["retrieve", "text/csv", examples["retrievePopulationDensity.200.csv"].value],
  ["retrieve", "application/x-ndjson", examples["retrievePopulationDensity.200.x-ndjson"].value],
  ["summary", json, examples["summarizePopulationDensity.200"].value],
  ["summary", "text/csv", examples["summarizePopulationDensity.200.csv"].value],
])(
  "the demo answers POST /%s as %s to the example request for 11:25 to 12:45 with the example's two hours",
  async (path, accept, example) => {
    const answered = await answerTo(path, accept);

    expect(typeof example === "string" ? answered : JSON.parse(answered)).toEqual(example);
  },
);

test("the demo answers the example login with the example's profile, but for its last login", async () => {
  const response = await fetch(`${sharedService.url}/v3/profile/authenticate`, {
    method: "POST",
    body: JSON.stringify(examples["authenticateProfile.request"].value),
    signal: AbortSignal.timeout(60_000),
  });
  const { Data } = (await response.json()) as { Data: { UserProfile: unknown } };
  const { DateLastLogin: _, ...profile } = examples["authenticateProfile.200"].value.Data.UserProfile;

  expect(Data.UserProfile).toMatchObject(profile);
});
