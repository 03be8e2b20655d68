import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { areas, endpoints, tables } from "../../functions/areas.ts";
import { bundledIds, constructName, functionIds, handlerFile, handlerPath } from "../../infra/bundles.ts";
import { functionRecords } from "../../infra/functions.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import "../support/streamed.ts";

const folders = readdirSync("functions", { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

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

describe.each(endpoints.map((endpoint: Endpoint) => [endpoint.id, endpoint] as const))(
  "what belongs to %s",
  (_id, endpoint) => {
    const [area = ""] = endpoint.id.split("/");
    const handler = handlerPath(endpoint.id as keyof typeof functionRecords).replace("functions/", "");

    test("its id names a folder and a file below `functions`, in words with dashes", () => {
      expect(endpoint.id).toMatch(/^[a-z]+(?:-[a-z]+)*\/[a-z]+(?:-[a-z]+)*$/);
      expect(folders).toContain(area);
      expect(files).toContain(handler);
    });

    test("the contract of its folder exports the declaration, and the list holds that very one", async () => {
      expect(endpointsIn(await load(`${dirname(handler)}/contract.ts`))).toContain(endpoint);
    });

    test("its file exports the handler", async () => {
      const module = await load(handler);
      expect(module.handler).toBeTypeOf("function");
    });

    test("its rights are in `infra/functions.ts`", () => {
      expect(Object.hasOwn(functionRecords, endpoint.id)).toBe(true);
    });

    test("its requests are counted exactly when it needs a token", () => {
      const line = functionRecords[endpoint.id as keyof typeof functionRecords];
      expect([...(line.tables?.quotas ?? [])].sort()).toEqual(
        endpoint.scope === null ? [] : ["GetItem", "UpdateItem"],
      );
    });
  },
);

describe("what is in the folders is also in the lists", () => {
  test.each(contracts)("%s: each endpoint of the contract is in the one list", async (file) => {
    const declared = endpointsIn(await load(file));
    expect(declared.filter((one) => !([...endpoints] as unknown[]).includes(one))).toEqual([]);
    expect(declared.length).toBeGreaterThan(0);
  });

  test("each file with a handler is a function in `infra/functions.ts`, and each function has its file", async () => {
    const handlers: string[] = [];
    for (const file of files) {
      const module = await load(file);
      if ("handler" in module) handlers.push(`functions/${file}`);
    }
    expect(handlers.sort()).toEqual(bundledIds.map(handlerPath).sort());
    expect(functionIds.filter((id) => !existsSync(handlerFile(id)))).toEqual([]);
    expect(functionIds.filter((id) => !folders.includes(dirname(id)))).toEqual([]);
  });

  test("each scope of an area is one of its endpoints' and of no other area, and says what it permits", () => {
    const scopes = areas.flatMap((area) => Object.entries<string>(area.scopes));
    const used = ([...endpoints] as Endpoint[]).flatMap(({ scope }) => scope ?? []);
    expect(scopes.map(([scope]) => scope).sort()).toEqual([...new Set(used)].sort());
    expect(scopes.filter(([, permits]) => !/^[A-Z].*\.$/.test(permits))).toEqual([]);
  });

  test("each table that a folder declares is in its area's list", async () => {
    const files = readdirSync("functions", { recursive: true, encoding: "utf8" }).filter((file) =>
      /(?:^|[\\/])tables?\.ts$/.test(file),
    );
    expect(files.length).toBeGreaterThan(3);
    for (const file of files.map((name) => name.replaceAll("\\", "/"))) {
      const module = await load(file);
      const declared = Object.values(module).filter(
        (value) => typeof value === "object" && value !== null && "partitionKey" in value,
      );
      const area = areas.find(({ name }) => file.startsWith(`${name}/`));
      expect(area?.tables).toEqual(expect.arrayContaining(declared));
    }
  });

  test("no two tables have the same name", () => {
    expect(new Set(tables.map(({ name }) => name)).size).toBe(tables.length);
  });

  test("no two functions have the same name in the stack", () => {
    expect(new Set(functionIds.map(constructName)).size).toBe(functionIds.length);
  });
});
