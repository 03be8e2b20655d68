import { beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { endpoints } from "../../../functions/areas.ts";
import { retrievePopulationDensity } from "../../../functions/population-density/contract.ts";
import { stackNames } from "../../../infra/stack-names.ts";
import { failures } from "../../../shared/endpoint.ts";
import { type Code, errors } from "../../../shared/errors.ts";
import { failInSandbox } from "../../../shared/sandbox/failing-numbers.ts";
import {
  type Outcome,
  type SandboxNumber,
  sandboxDate,
  sandboxNumbers,
  suppressedArea,
} from "../../../shared/sandbox/numbers.ts";
import { acceptingSinkPath, refusingSinkPath, unreachableSink } from "../../../shared/sandbox/sinks.ts";
import { hoursToCome } from "../../support/areas.ts";
import { call, tokenWith } from "../../support/client.ts";
import { useTables } from "../../support/database.ts";
import { runNcs } from "../../support/ncs.ts";
import { useOwnFolder } from "../../support/own-folder.ts";
import { sharedService } from "../../support/service.ts";

const folder = useOwnFolder();

type Area = keyof SandboxNumber["outcomes"];

/** The operations that are about a number, with what is asked. */
const operations = endpoints.filter(({ errors }) =>
  (errors as readonly Code[]).includes("IDENTIFIER_NOT_FOUND"),
);
const areaOf = (id: string) => id.split("/")[0] as Area;
const bodyOf = (area: Area, phoneNumber: string) =>
  area === "number-recycling" ? { phoneNumber, specifiedDate: sandboxDate } : { device: { phoneNumber } };

/** Codes that a request causes with any number: docs/sandbox.md says how. */
const causedByRequest: readonly Code[] = [
  "INVALID_ARGUMENT",
  "MISSING_IDENTIFIER",
  "NOT_FOUND",
  "OUT_OF_RANGE",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "UNNECESSARY_IDENTIFIER",
  "UNSUPPORTED_IDENTIFIER",
];

const density = "/populationdensitydata/retrieve";
const densityScope = retrievePopulationDensity.scope;

let token: string;
beforeAll(async () => {
  const scopes = [...operations.map(({ scope }) => scope), densityScope];
  token = await tokenWith({ scope: scopes.join(" ") });
});

test.each(operations)("the sandbox has a number for each code of $operationId", ({ id, errors }) => {
  const covered = sandboxNumbers.map(({ outcomes }) => outcomes[areaOf(id)]);
  const wanted = [...errors, ...failures].filter((code) => !causedByRequest.includes(code));
  expect(covered).toEqual(expect.arrayContaining(wanted));
});

const rows = sandboxNumbers.flatMap(({ phoneNumber, outcomes }) =>
  operations.map(({ id, operationId, path }) => {
    const area = areaOf(id);
    return { operationId, path, phoneNumber, area, outcome: outcomes[area] };
  }),
);

test.each(rows)(
  "$operationId answers about $phoneNumber as its row says",
  async ({ path, phoneNumber, area, outcome }) => {
    const answer = await call(path, { body: bodyOf(area, phoneNumber), token });
    expect(answer).toMatchObject(answerOf(outcome));
  },
);

test("an operation refuses a failing number to a token without the scope", async () => {
  const answer = await call("/numberrecycling/check", {
    body: bodyOf("number-recycling", "+99050001"),
    token: await tokenWith({ scope: "qos-profiles:read" }),
  });
  expect(answer).toMatchObject({ status: 403, body: { code: "PERMISSION_DENIED" } });
});

test("the served document names every number", async () => {
  const { body } = await call("/openapi.json");
  const { info } = z.object({ info: z.object({ description: z.string() }) }).parse(body);
  for (const { phoneNumber } of sandboxNumbers) expect(info.description).toContain(`| \`${phoneNumber}\` |`);
});

test("every cell of the suppressed area is LOW_DENSITY in each hour of a week", async () => {
  const body = { area: suppressedArea, ...hoursToCome(168), precision: 7 };
  const answer = await call(density, { body, token });
  const { status, timedPopulationDensityData } = retrievePopulationDensity.responses[200].parse(answer.body);
  const cells = timedPopulationDensityData.flatMap((hour) => hour.cellPopulationDensityData);
  expect(status).toBe("SUPPORTED_AREA");
  expect(cells.length).toBeGreaterThan(168 * 8);
  expect(new Set(cells.map(({ dataType }) => dataType))).toEqual(new Set(["LOW_DENSITY"]));
});

test("a delivery to the accepting sink ends as DELIVERED", async () => {
  const { read } = await operationWith(`${sharedService.url}${acceptingSinkPath}`);
  await expect
    .poll(read)
    .toMatchObject({ state: "DELIVERED", attempts: 1, lastAttempt: { httpStatus: 204 } });
});

test("a delivery to the refusing sink ends as REFUSED", async () => {
  const { read } = await operationWith(`${sharedService.url}${refusingSinkPath}`);
  await expect.poll(read).toMatchObject({ state: "REFUSED", attempts: 1, lastAttempt: { httpStatus: 404 } });
});

test("a delivery to the unreachable sink fails and stays pending", async () => {
  const { path, read } = await operationWith(unreachableSink);
  await expect.poll(read).toMatchObject({ state: "PENDING", lastAttempt: { outcome: "FAILED" } });
  expect(await call(path, { method: "DELETE", token })).toMatchObject({ status: 200 });
});

test.each([
  [
    "exits with 0 for a stage",
    stackNames.dev,
    [],
    { code: 0, stdout: "12 records imported into NetworkCapabilities-dev\n" },
  ],
  [
    "--city refuses a stage without its K",
    stackNames.dev,
    ["--city"],
    { code: 1, stderr: expect.stringContaining("has no DensityK") },
  ],
  [
    "refuses a stage with subscribers",
    stackNames.prod,
    [],
    { code: 1, stderr: expect.stringContaining("is no sandbox") },
  ],
])("ncs import sandbox %s: %s", async (_, stack, options, expected) => {
  // The outputs of a stack whose tables are those of the test.
  useTables();
  const outputs = await folder.write("outputs.json", { [stack]: {} });
  expect(await runNcs(["import", "sandbox", ...options, "--outputs", outputs])).toMatchObject(expected);
});

test("a failing number fails nothing in a stage that is no sandbox", () => {
  vi.stubEnv("SANDBOX", undefined);
  expect(() => failInSandbox({ phoneNumber: "+99050001" })).not.toThrow();
  vi.unstubAllEnvs();
});

function answerOf(outcome: Outcome) {
  if (typeof outcome !== "string") return { status: 200, body: outcome.body };
  const { status } = errors[outcome];
  return { status, body: { status, code: outcome } };
}

/** Requests densities for a sink. */
async function operationWith(sink: string) {
  const body = { area: suppressedArea, ...hoursToCome(0), sink };
  const { status, headers } = await call(density, { body, token });
  expect(status).toBe(202);
  const { pathname: path } = new URL(headers.get("location") ?? "", sharedService.url);
  return { path, read: async () => (await call(path, { token })).body };
}
