import { readFileSync } from "node:fs";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import * as z from "zod";
import { tables } from "../../functions/areas.ts";

/** Items as DynamoDB returned them, by table; bytes are in base64. */
const stored = z
  .record(z.string(), z.array(z.record(z.string(), z.looseObject({}))))
  .parse(JSON.parse(readFileSync("test/shared/stored-items.json", "utf8")));

const withBytes = ({ B, ...value }: Readonly<Record<string, unknown>>) =>
  (typeof B === "string" ? { B: Buffer.from(B, "base64") } : value) as unknown as AttributeValue;

test.each(tables.map((table) => [table.name, table] as const))(
  "items of %s as releases before have stored them are still read",
  (name, { schema }) => {
    const items = stored[name] ?? [];
    expect(items).not.toEqual([]);
    for (const item of items) {
      const attributes = Object.entries(item).map(([attribute, value]) => [attribute, withBytes(value)]);
      expect(() => schema.parse(unmarshall(Object.fromEntries(attributes)))).not.toThrow();
    }
  },
);

test("no items are kept of a table that does not exist", () => {
  expect(Object.keys(stored).sort()).toEqual(tables.map(({ name }) => name as string).sort());
});
