import { execFile } from "node:child_process";
import { relative } from "node:path";
import { expect, test } from "vitest";
import { readNamedEvent } from "../../tools/event-files.ts";
import { faultyEvent, readFault } from "../../tools/faults.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();

/** Runs `npm run invoke` as a person does. */
function invoke(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["tools/invoke.ts", ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test("npm run invoke sends an event file from another folder to the function of its route, with the operation that the event names stored", async () => {
  const { event } = await readNamedEvent(
    "population-density/cancel-operation.200-cancelled-before-by-alias.json",
  );
  const { code, stdout } = await invoke(relative(process.cwd(), await folder.write("mine.json", event)));

  const { statusCode, body } = JSON.parse(stdout);
  expect({ code, statusCode, ...JSON.parse(body) }).toMatchObject({
    code: 0,
    statusCode: 200,
    state: "CANCELLED",
  });
});

test.each([
  [[], "missing required argument 'file'"],
  [["none.json"], "none.json cannot be read: ENOENT, no such file or folder"],
])("npm run invoke %j exits with 1 and one sentence: %s", async (args, sentence) => {
  const { code, stderr } = await invoke(...args);

  expect(code).toBe(1);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toMatch(/^ +at /m);
});

test("npm run invoke refuses a fault of the caller for an operation that needs no token", async () => {
  const { event } = await readNamedEvent("keys/publish.200-key-set.json");

  expect(() => faultyEvent(event, readFault("permission-denied"))).toThrow("its operation needs no token");
});
