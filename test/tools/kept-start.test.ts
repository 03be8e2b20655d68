import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { uploadsPerCallerAndHost } from "../../functions/population-density/delivery/permit-rules.ts";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { tokenOf } from "../../tools/calls/login.ts";
import { hoursToCome } from "../support/areas.ts";
import { demoLogin } from "../support/demo-login.ts";
import { spawnNcs } from "../support/ncs.ts";
import { type NpmProgram, npm } from "../support/npm.ts";
import { openSink, type TestSink } from "../support/sink.ts";

let folder: TemporaryFolder;
let sink: TestSink;
let program: NpmProgram | undefined;
beforeEach(async () => {
  folder = temporaryFolder("kept-start-");
  sink = await openSink();
});
afterEach(async () => {
  program?.remove();
  await sink.close();
  folder.remove();
});

/**
 * Runs `npm start` on the folder. Returns its address when it can answer.
 * @param before the address of the start before: the address is the issuer of tokens, so only there do they stay valid.
 */
async function start(retrySeconds: string, before: string | undefined, ...args: string[]): Promise<string> {
  const port = before === undefined ? "0" : new URL(before).port;
  program = npm(["start", "--silent", "--", "--port", port, ...keep(), ...args], {
    DENSITY_PENDING_LIMIT: "100",
    RATE_LIMIT_PER_MINUTE: "1000000",
    SINK_RETRY_SECONDS: retrySeconds,
  });
  await expect.poll(program.output).toContain("\n");
  return /^Listening on (\S+)\n$/.exec(program.output())?.[1] ?? "";
}

const keep = () => ["--keep", join(folder.path, "kept")];

/** `kill -9` of everything that `npm start` has started. */
async function kill(): Promise<void> {
  program?.remove();
  await program?.ended;
}

/** Asks for an hour of the area of a request, to a sink. Returns the operation's id. */
async function place(url: string, token: string, request: Example, sinkUrl: string): Promise<string> {
  const body = JSON.stringify({ ...request, ...hoursToCome(), sink: sinkUrl });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/populationdensitydata/retrieve`, { method: "POST", headers, body });
  expect(response.status).toBe(202);
  return z.object({ operationId: z.string() }).parse(await response.json()).operationId;
}

const example = z.looseObject({ area: z.unknown() });
type Example = z.output<typeof example>;
const name = "retrievePopulationDensity.request";
const document = z.object({
  components: z.object({ examples: z.object({ [name]: z.object({ value: example }) }) }),
});

/** The request for densities in the document of a service. */
async function exampleOf(url: string): Promise<Example> {
  const { components } = document.parse(await (await fetch(`${url}/openapi.json`)).json());
  return components.examples[name].value;
}

/** Expects that a service covers a box in the south of Chile instead of the demo's city, and says that it is a model. */
async function expectCovered(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const capabilities = await fetch(`${url}/populationdensitydata/capabilities`, { headers });
  expect(await capabilities.json()).toMatchObject({
    typicalWeek: { timeZone: "America/Punta_Arenas" },
    provenance: [{ source: expect.stringContaining("nobody was counted") }],
  });
  // The picture behind the login is that of the demo's city.
  expect(await (await fetch(url)).text()).toContain('<meta name="demo-city" content="">');
}

const page = z.object({
  operations: z.array(z.object({ state: z.string(), nextAttemptAt: z.string().optional() })),
});

async function operationsOf(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/populationdensitydata/operations`, { headers });
  return page.parse(await response.json()).operations;
}

/** How often each operation was acknowledged by the sink. */
function deliveries(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { body, answer } of sink.received()) {
    if (typeof answer !== "object" || answer.status !== 204) continue;
    const { operationId } = JSON.parse(body);
    counts.set(operationId, (counts.get(operationId) ?? 0) + 1);
  }
  return counts;
}

test("npm start --keep after kill -9 has the place of --around, tokens and imported data, and delivers each accepted request once; with another place it exits with 1", async () => {
  // In the west and the south: it begins with a hyphen.
  const first = await start("4,8,16,32,64,128", undefined, "--around", "-70.94,-53.18,-70.88,-53.14");
  const token = await tokenOf(first, demoLogin);
  await expectCovered(first, token);
  const profiles = join(folder.path, "qos-profiles.json");
  writeFileSync(profiles, JSON.stringify([{ name: "QOS_KEPT", status: "ACTIVE" }]));
  const imported = await spawnNcs(["import", "qos-profiles", profiles, "--local", new URL(first).port]);
  expect(imported).toMatchObject({ code: 0 });
  const headers = { authorization: `Bearer ${token}` };
  const request = await exampleOf(first);
  const body = JSON.stringify(request);
  const answer = await fetch(`${first}/populationdensitydata/retrieve`, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ status: "SUPPORTED_AREA" });
  let isKilled = false;
  const url = sink.urlBy(() => ({ status: isKilled ? 204 : 503 }));
  // As many as are sent to a host at a time: a fourth would ask for its turn up to 20 s later.
  const sent = Array.from({ length: uploadsPerCallerAndHost }, () => place(first, token, request, url));
  const accepted = await Promise.all(sent);
  // However slow the machine is: waits grow until all of them are waiting at once.
  const isHidden = async () =>
    (await operationsOf(first, token)).every(
      ({ nextAttemptAt = "" }) => Date.parse(nextAttemptAt) - Date.now() > 1_000,
    );
  await expect.poll(isHidden).toBe(true);
  const hanging = sink.urlBy(() => (isKilled ? { status: 204 } : "hang"));
  accepted.push(await place(first, token, request, hanging));
  await expect.poll(() => sink.received(hanging).length).toBe(1);
  await kill();
  isKilled = true;

  const second = await start("2,2,2,2,2,2,2", first);

  await expectCovered(second, token);
  expect(await exampleOf(second)).toMatchObject({ area: request.area });
  const kept = await fetch(`${second}/qualityondemand/qos-profiles/QOS_KEPT`, { headers });
  expect(kept.status).toBe(200);
  const once = new Map(accepted.map((operationId) => [operationId, 1]));
  // Long before the time of the killed workers would be over.
  await expect.poll(deliveries, { timeout: 120_000 }).toEqual(once);
  const states = async () => (await operationsOf(second, token)).map(({ state }) => state);
  await expect.poll(states).toEqual(accepted.map(() => "DELIVERED"));
  await program?.listeningForSignals();
  program?.child.kill("SIGTERM");
  expect(await program?.ended).toBe(0);
  program?.remove();

  program = npm(["start", "--silent", "--", "--port", "0", ...keep(), "--around", "Suva"]);
  expect(await program.ended).toBe(1);
  await expect.poll(program.errors).toContain("already has the data of");
}, 800_000);
