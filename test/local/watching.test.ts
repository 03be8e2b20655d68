import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { reasonOf } from "../../tools/local/follow-sources.ts";
import { watched, watchSources } from "../../tools/local/watching.ts";
import { demoLogin } from "../support/demo-login.ts";
import { startOwnService } from "../support/own-service.ts";

/** A project with nothing in its folders, what is told of its changes, and what holds the next one up. */
function watchedProject() {
  const { path, remove } = temporaryFolder("watching-");
  for (const folder of watched) mkdirSync(join(path, folder));
  const told: string[][] = [];
  const watching = watchSources(async (files) => void told.push([...files]), path);
  onTestFinished(() => {
    watching.close();
    remove();
  });
  return { path, told: () => told.flat() };
}

test.each([
  ["writes it", (file: string) => writeFileSync(file, "1")],
  [
    "writes another and renames that, as editors do",
    (file: string) => {
      writeFileSync(`${file}~`, "1");
      renameSync(`${file}~`, file);
    },
  ],
])("somebody saves a file and %s → its name is told, and again after the next time", async (_, save) => {
  const { path, told } = watchedProject();
  for (const times of [1, 2]) {
    save(join(path, "functions/one.ts"));
    await expect.poll(() => told().length).toBeGreaterThanOrEqual(times);
  }
  expect(new Set(told())).toEqual(new Set(["functions/one.ts"]));
});

test("somebody adds a folder with a file, and then changes the file → both are told", async () => {
  const { path, told } = watchedProject();
  mkdirSync(join(path, "shared/new"));
  // The folder is watched from some moment on.
  const saveAgain = () => {
    writeFileSync(join(path, "shared/new/two.ts"), "2");
    return told();
  };
  await expect.poll(saveAgain, { interval: 300 }).toContain("shared/new/two.ts");
});

test("a reason names the file and the line of the service first, and no file for anything else", () => {
  const stack = (file: string) =>
    Object.assign(new Error("Expression expected"), { stack: `${file}:7\nconst x = = 1` });
  const here = join(import.meta.dirname, "../..");
  expect(reasonOf(stack(join(here, "shared/errors.ts")))).toBe("shared/errors.ts:7: Expression expected");
  expect(reasonOf(stack(`file://${join(here, "functions/areas.ts")}`))).toBe(
    "functions/areas.ts:7: Expression expected",
  );
  expect(reasonOf(new Error("outer", { cause: new Error("stop npm start and restart it") }))).toBe(
    "stop npm start and restart it",
  );
});

test("a service takes up its files again → a login of before and its token go on, and so does what is stored", async () => {
  const service = await startOwnService({}, { hasDemoData: true });
  onTestFinished(() => service.close());
  const { body } = await service.call("/v3/profile/authenticate", {
    method: "POST",
    body: JSON.stringify(demoLogin),
  });
  const { access_token: token } = (body as { Data: { access_token: string } }).Data;
  const read = () =>
    service.call("/qualityondemand/qos-profiles/QOS_E", { headers: { authorization: `Bearer ${token}` } });
  const before = await read();
  expect(before.status).toBe(200);

  await service.reload();

  expect(await read()).toMatchObject({ status: 200, body: before.body });
});
