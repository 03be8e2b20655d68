import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import {
  getJson,
  type ImportOrder,
  keys,
  plan,
  prefixPlan,
  putJson,
  readFile,
} from "../../../functions/population-density/distributed-import/execution-objects.ts";
import { handler } from "../../../functions/population-density/distributed-import/import-densities.ts";
import { bundleVariables } from "../../../tools/made-bundles.ts";
import { RuntimeClient } from "../../../tools/runtime-client.ts";
import { busyMachine } from "../../support/busy-machine.ts";
import { bucket, header, inTables, row, tables, useImports } from "../../support/distributed-import.ts";
import { sharedBundles } from "../../support/service.ts";

useImports();

const client = new RuntimeClient();
afterAll(() => client.close());

const fileCount = 200;

test("200 files that name the same 1,024 tiles are planned within 32 MB of heap", async () => {
  const order = newOrder();
  await inTables(tables.distributed, async () => {
    await readFiles(order);
    const bundle = bundleVariables(await sharedBundles(), "population-density/import-densities");
    await client.start({ ...functionEnvironment(), ...bundle, NODE_OPTIONS: "--max-old-space-size=32" });

    const invoked = await client.invoke({ step: "plan", order }, { remainingMilliseconds: 280_000 });

    expect(invoked.errorType).toBeUndefined();
    expect(invoked.result).toEqual({});
    const { files, rows } = await getJson(plan, keys.plan(order.id));
    expect(files).toHaveLength(fileCount);
    expect(rows).toBe(fileCount * tiles.length);
    const { rows: ranges } = await getJson(prefixPlan, keys.prefix(order.id, "u00"));
    expect(ranges.map(({ file }) => file)).toEqual(files.map((_, index) => index));
  });
});

function newOrder(): ImportOrder {
  const id = randomUUID();
  return {
    id,
    prefix: `counts/${id}/`,
    hasArea: false,
    typical: false,
    isRecounted: false,
    marketShare: 1,
    threshold: 10,
    precisions: [3, 4, 5, 6],
  };
}

const tiles = suffixesOf(2).map((suffix) => `u0${suffix}`);

/** Reads a file with a row of each tile; of each other file, as much was read. */
async function readFiles(order: ImportOrder): Promise<void> {
  const key = `${order.prefix}counted.csv`;
  const content = header + tiles.map((tile) => row(`${tile}zz`)).join("\n");
  await bucket.put(key, content);
  await handler({ step: "read", order, key, size: content.length, index: 0 });
  const read = await getJson(readFile, keys.read(order.id, 0));
  for (let index = 1; index < fileCount; index++) await putJson(keys.read(order.id, index), read);
}

/** What the stores of this thread use, for a process of its own. */
function functionEnvironment(): Record<string, string> {
  const names = Object.keys(process.env).filter((name) => /^(AWS|DENSITY|TABLE|BUCKET)_/.test(name));
  return {
    ...Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""])),
    ...busyMachine,
    AWS_LAMBDA_FUNCTION_NAME: "import-densities",
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "128",
    AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/import-densities",
    AWS_LAMBDA_LOG_STREAM_NAME: "local",
  };
}
