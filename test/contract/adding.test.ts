import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { areas, endpoints, protocolAreas, protocolEndpoints, tables } from "../../functions/areas.ts";
import { bundledIds, constructName, functionIds, handlerPath } from "../../infra/bundles.ts";
import { functionRecords } from "../../infra/functions.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import "../support/streamed.ts";

/** Below `functions`. */
const files = readdirSync("functions", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"));

const contracts = files.filter((file) => file.endsWith("/contract.ts"));

type Exports = Readonly<Record<string, unknown>>;

/** The exports of a file, given below `functions`. */
async function load(file: string): Promise<Exports> {
  return await import(/* @vite-ignore */ `../../functions/${file}`);
}

/** The endpoints among the exports of a module, told by their members. */
function endpointsIn(module: Exports): unknown[] {
  return Object.values(module).filter(
    (value) => typeof value === "object" && value !== null && "operationId" in value && "path" in value,
  );
}

const declared: readonly Endpoint[] = [...endpoints, ...protocolEndpoints];
const identified = declared.map((endpoint) => [endpoint.id, endpoint] as const);
const idOf = ({ id }: Endpoint) => id as keyof typeof functionRecords;

test.each(identified)("the contract in the folder of %s exports the endpoint", async (_, endpoint) => {
  const folder = dirname(handlerPath(idOf(endpoint)).replace("functions/", ""));
  expect(endpointsIn(await load(`${folder}/contract.ts`))).toContain(endpoint);
});

test.each(identified)("%s counts its requests exactly when it needs a token", (_, endpoint) => {
  const { tables: granted } = functionRecords[idOf(endpoint)];
  expect([...(granted?.quotas ?? [])].sort()).toEqual(
    endpoint.scope === null ? [] : ["GetItem", "UpdateItem"],
  );
});

test.each(contracts)("functions/%s exports no endpoint that its area does not list", async (file) => {
  const exported = endpointsIn(await load(file));
  expect(exported.filter((one) => !(declared as readonly unknown[]).includes(one))).toEqual([]);
});

test("infra/functions.ts has exactly the functions whose files export a handler", async () => {
  const handlers: string[] = [];
  for (const file of files) {
    const module = await load(file);
    if ("handler" in module) handlers.push(`functions/${file}`);
  }
  expect(handlers.sort()).toEqual(bundledIds.map(handlerPath).sort());
});

test("every scope belongs to one area and is used by an endpoint", () => {
  const scopes = areas.flatMap((area) => Object.keys(area.scopes));
  const used = declared.flatMap(({ scope }) => scope ?? []);
  expect(scopes.sort()).toEqual([...new Set(used)].sort());
});

test.each(files.filter((file) => /\/tables?\.ts$/.test(file)))(
  "functions/%s declares no table that its area does not list",
  async (file) => {
    const exported = Object.values(await load(file)).filter(
      (value) => typeof value === "object" && value !== null && "partitionKey" in value,
    );
    const area = [...areas, ...protocolAreas].find(({ name }) => file.startsWith(`${name}/`));
    expect(area?.tables).toEqual(expect.arrayContaining(exported));
  },
);

test("no two tables have the same name", () => {
  expect(new Set(tables.map(({ name }) => name)).size).toBe(tables.length);
});

test("no two functions have the same name in the stack", () => {
  expect(new Set(functionIds.map(constructName)).size).toBe(functionIds.length);
});
