import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { handler } from "../../../functions/population-density/distributed-import/import-densities.ts";
import { settledParts } from "../../../functions/population-density/import/store/day-lease.ts";
import {
  database,
  header,
  importDistributed,
  importOnOneMachine,
  inTables,
  itemsOf,
  row,
  tables,
  times,
  useImports,
} from "../../support/distributed-import.ts";
import { openFaultyEndpoint } from "../../support/faulty-endpoint.ts";
import { runs } from "../../support/sample.ts";

useImports([3, 6]);

test("the distributed import names a day that another took, lets others wait for the rest and can be repeated", async () => {
  const cells = ["u04zzz", "u0hbp0", "u1h2nb"].slice(0, runs(3, 2));
  const rows = cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]);
  const files = { "a.csv": header + rows.join("\n") };
  const losing = async (payload: unknown) => {
    const { step, prefix } = payload as { step: string; prefix?: string };
    if (step === "store" && prefix === "u0h") await takeDay("day#2026-11-09");
    return await handler(payload);
  };
  expect(await importDistributed(files, {}, 1, losing)).toEqual({
    status: "FAILED",
    error: "ImportFailed",
    cause: "2026-11-09: another import has started to store it: repeat this one",
  });
  // Functions that were running when it failed may still write.
  const others = inTables(tables.distributed, () => settledParts("day#2026-11-02", "2026-11-02", Date.now()));
  await expect(others).rejects.toThrow("2026-11-02: another import is storing it");
  const taken = (await itemsOf(tables.distributed)).filter((item) => item.includes('"writer"'));
  expect(taken.map((item) => /"writer",{"S":"([^"]*)"/.exec(item)?.[1])).toEqual(["nobody", "another"]);

  for (const day of ["day#2026-11-02", "day#2026-11-09"]) await takeDay(day);
  const one = await importOnOneMachine(files, {});
  const repeated = await importDistributed(files, {});
  expect(repeated).toMatchObject({ status: "SUCCEEDED", output: { rows: one.rows, items: one.items } });
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
});

test.each([1, 2])(
  "the distributed import changes no list of parts when it loses a day at its attempt %i to begin",
  async (lost) => {
    const filesOf = (cells: readonly string[]) => ({
      "a.csv": header + cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]).join("\n"),
    });
    await importDistributed(filesOf(["u04zzz"]), {});
    const before = await itemsOf(tables.distributed);
    const address = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
    const endpoint = await openFaultyEndpoint(address);
    let attempts = 0;
    endpoint.inject(({ parameters }) => {
      const { day } = parametersOfDay.parse(parameters);
      const isTaking = changeOf(parameters) === "take" && day === "day#2026-11-09";
      const isRefused = isTaking && attempts < lost;
      return isRefused ? { refuse: { status: 400, name: "AccessDeniedException" } } : "pass";
    });
    const losing = async (payload: unknown) => {
      const { step } = payload as { step: string };
      if (step === "begin" && ++attempts === lost) await storeDay("day#2026-11-09");
      return await handler(payload);
    };
    try {
      process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint.url;
      expect(await importDistributed(filesOf(["u04zzz", "u0hbp0"]), {}, 1, losing)).toMatchObject({
        status: "FAILED",
        cause: "2026-11-09: another import has started to store it: repeat this one",
      });
    } finally {
      process.env.AWS_ENDPOINT_URL_DYNAMODB = address;
      await endpoint.close();
    }

    expect(attempts).toBe(lost);
    const listsOf = (items: readonly string[]) =>
      items.filter((item) => item.includes('["kind",{"S":"parts"}]'));
    expect(listsOf(before)).toHaveLength(2);
    expect(listsOf(await itemsOf(tables.distributed))).toEqual(listsOf(before));
  },
);

test("the distributed import repeats a step that failed after it took or released some days", async () => {
  const cells = ["u04zzz", "u0hbp0"].slice(0, runs(2, 1));
  const rows = cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]);
  const files = { "a.csv": header + rows.join("\n") };
  const one = await importOnOneMachine(files, {});
  const address = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
  const endpoint = await openFaultyEndpoint(address);
  const failed = new Set<string>();
  endpoint.inject(({ parameters }) => {
    const { day } = parametersOfDay.parse(parameters);
    const change = changeOf(parameters);
    if (day !== "day#2026-11-09" || change === undefined || failed.has(change)) return "pass";
    failed.add(change);
    return { refuse: { status: 400, name: "AccessDeniedException" } };
  });
  try {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint.url;
    expect(await importDistributed(files, {})).toEqual({ status: "SUCCEEDED", output: one });
  } finally {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = address;
    await endpoint.close();
  }
  expect([...failed]).toEqual(["take", "release"]);
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
});

const text = z.object({ S: z.string() });
const keyOfDay = z.object({ kind: z.optional(text), id: z.optional(text) });

const parametersOfDay = z.pipe(
  z.object({ Item: z.optional(keyOfDay), Key: z.optional(keyOfDay) }),
  z.transform(({ Item, Key = Item }) => ({ day: Key?.kind?.S === "parts" ? Key.id?.S : undefined })),
);

/** Whether a call takes or releases a day. */
function changeOf({ UpdateExpression }: Readonly<Record<string, unknown>>): "take" | "release" | undefined {
  if (String(UpdateExpression).includes("writer = :writer")) return "take";
  return String(UpdateExpression).startsWith("REMOVE writer") ? "release" : undefined;
}

/** Makes another import the one that stores a day, whose lease has ended. */
async function takeDay(day: string): Promise<void> {
  await database.send(
    new UpdateItemCommand({
      TableName: tables.distributed.imports,
      Key: { kind: { S: "parts" }, id: { S: day } },
      UpdateExpression: "SET writer = :writer, writerUntil = :until",
      ExpressionAttributeValues: { ":writer": { S: "another" }, ":until": { N: "0" } },
    }),
  );
}

/** Counts an import of a day by another one. */
async function storeDay(day: string): Promise<void> {
  await database.send(
    new UpdateItemCommand({
      TableName: tables.distributed.imports,
      Key: { kind: { S: "parts" }, id: { S: day } },
      UpdateExpression: "ADD revision :one",
      ExpressionAttributeValues: { ":one": { N: "1" } },
    }),
  );
}
