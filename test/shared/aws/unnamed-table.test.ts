import { expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod/mini";
import {
  deleteItem,
  getItem,
  getItems,
  putItem,
  queryFirst,
  queryIndex,
  queryPartition,
  updateItem,
  updateWithPrevious,
} from "../../../shared/aws/database.ts";
import { table } from "../../../shared/table.ts";

const item = z.object({ folder: z.string() });
const notes = table({
  name: "notes",
  partitionKey: "folder",
  indexes: [{ name: "by-folder", partitionKey: "folder", sortKey: "name", attributes: [] }],
  schema: item,
});
const key = { folder: "a" };
const { signal } = new AbortController();

// If one of several concurrent calls threw synchronously, the others' rejections would be unhandled and end the process.
test.each([
  ["getItem", () => getItem(notes, key, signal)],
  ["getItems", () => getItems(notes, [key], signal)],
  ["queryPartition", () => queryPartition(notes, "a", signal)],
  ["queryFirst", () => queryFirst(notes, "by-folder", "a", 1, item, signal)],
  ["queryIndex", () => queryIndex(notes, "by-folder", "a", item, signal)],
  ["putItem", () => putItem(notes, key, {}, signal)],
  [
    "updateItem",
    () => updateItem(notes, key, { update: "REMOVE a", condition: "attribute_exists(folder)" }, signal),
  ],
  ["updateWithPrevious", () => updateWithPrevious(notes, key, { update: "REMOVE a" }, signal)],
  ["deleteItem", () => deleteItem(notes, key, { condition: "attribute_exists(folder)" }, signal)],
] as const)("%s rejects instead of throwing when the table has no name", async (_, read) => {
  vi.stubEnv("TABLE_NOTES", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const reading = read();

  await expect(reading).rejects.toThrow("TABLE_NOTES must not be empty");
});
