import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { causeOf } from "../../shared/aws/log.ts";
import { bundle } from "../../tools/build.ts";
import { explainTrace } from "../../tools/cli/explain-trace.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
let maps: string;
let cause: string;

/** A bundled handler that fails in a function of another file. */
beforeAll(async () => {
  maps = join(folder.path, "maps");
  const failing =
    "\n\nexport function findDevice(number: string): never {\n  throw new RangeError(number);\n}\n";
  await folder.write("failing.ts", failing);
  const called = JSON.stringify("./failing.ts");
  const handler = `import { findDevice } from ${called};\nexport const handler = () => findDevice("+34600000001");\n`;
  await bundle(await folder.write("handler.ts", handler), join(folder.path, "bundle"), maps);
  const { handler: run } = await import(pathToFileURL(join(folder.path, "bundle", "index.mjs")).href);
  try {
    run();
  } catch (error) {
    cause = causeOf(error);
  }
});

test("ncs explain-trace replaces places in bundles by places in the sources", async () => {
  expect(cause).toMatch(/^RangeError\n.*index-[A-Z0-9]{8}\.mjs:1:/);

  const explained = await explainTrace(cause, maps);

  expect(explained).toMatch(/^RangeError\n.*failing\.ts:4:9\)?\n.*handler\.ts:2:\d+/);
  expect(explained).not.toContain(".mjs:1:");
});

test("ncs explain-trace finds the cause in a whole log line", async () => {
  const explained = await explainTrace(JSON.stringify({ id: "NCS-002", cause }), maps);

  expect(explained).toMatch(/failing\.ts:4:9/);
});

test("ncs explain-trace refuses a trace of another release and names the file", async () => {
  await expect(explainTrace("    at a (/var/task/index-ABCDEFGH.mjs:1:1)", maps)).rejects.toThrow(
    "no map of index-ABCDEFGH.mjs",
  );
});
