import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { KeptState } from "../../tools/local/kept-state.ts";
import { canMount, withMounted } from "../support/mounted.ts";

const now = new Date("2026-11-22T12:00:00Z");

let temporary: TemporaryFolder;
let folder: string;
beforeEach(() => {
  temporary = temporaryFolder("kept-state-");
  folder = join(temporary.path, "kept");
});
afterEach(() => temporary.remove());

/** Completes a first start that has imported `/data`. */
async function finishFirstStart(): Promise<void> {
  const kept = await KeptState.open(folder, undefined);
  await kept.keepSecrets([]);
  await kept.finishFirstStart("/data", now);
  await kept.close();
}

test("npm start --keep returns on a later start what the first one imported", async () => {
  await finishFirstStart();

  const kept = await KeptState.open(folder, undefined);

  expect(kept.firstStart).toEqual({ data: "/data", since: "2026-11-22T12:00:00.000Z" });
  await kept.close();
});

test("npm start --keep returns the secrets that were written last, also when several writes overlapped", async () => {
  const versions = [{ id: "1", value: "a key", labels: ["AWSCURRENT"], createdSeconds: 1 }];
  const secret = { arn: "arn:secret", name: "secret", rotationFunctionArn: "arn:function", versions };
  const first = await KeptState.open(folder, undefined);
  await Promise.all([[], [{ ...secret, versions: [] }], [secret]].map((each) => first.keepSecrets(each)));
  await first.finishFirstStart("/data", now);
  await first.close();

  const kept = await KeptState.open(folder, undefined);

  expect(kept.secrets).toEqual([secret]);
  await kept.close();
});

test("npm start --keep begins empty when the first start ended before its data were imported", async () => {
  const first = await KeptState.open(folder, undefined);
  writeFileSync(join(first.tables, "half"), "");
  await first.keepSecrets([{ arn: "arn:secret", name: "secret", versions: [] }]);
  await first.close();

  const kept = await KeptState.open(folder, undefined);

  expect(kept.secrets).toEqual([]);
  expect(() => statSync(join(kept.tables, "half"))).toThrow("ENOENT");
  await kept.close();
});

test.skipIf(process.platform === "win32")(
  "npm start --keep gives other users no access to its files",
  async () => {
    const kept = await KeptState.open(folder, undefined);

    const modes = [join(folder, "service"), kept.tables, kept.queues].map(
      (path) => statSync(path).mode & 0o077,
    );

    expect(modes).toEqual([0, 0, 0]);
    await kept.close();
  },
);

test("npm start --keep refuses a folder that another start uses", async () => {
  const kept = await KeptState.open(folder, undefined);

  await expect(KeptState.open(folder, undefined)).rejects.toThrow(
    `${folder} is in use: stop the other npm start, or choose another folder`,
  );
  await kept.close();
});

test("npm start --keep refuses a folder with other files", async () => {
  writeFileSync(join(temporary.path, "notes.txt"), "");

  await expect(KeptState.open(temporary.path, undefined)).rejects.toThrow("contains other files");
});

test("npm start --keep refuses a folder of another version", async () => {
  await finishFirstStart();
  const db = new ClassicLevel<string, unknown>(join(folder, "service"), { valueEncoding: "json" });
  await db.put("format", 999);
  await db.close();

  await expect(KeptState.open(folder, undefined)).rejects.toThrow("was created by another version");
});

test("npm start --keep refuses other data than the folder began with and accepts the same", async () => {
  await finishFirstStart();

  await expect(KeptState.open(folder, "/other")).rejects.toThrow("already has the data of /data");
  const kept = await KeptState.open(folder, "/data");
  await kept.finishFirstStart("/data", now, { name: "Suva, Fiji", at: "-18.14,178.44" });
  await kept.close();
  await expect(KeptState.open(folder, "/data")).rejects.toThrow("already has the data of Suva, Fiji");
});

test.runIf(canMount)("npm start --keep names a folder on a read-only disk", async () => {
  const module = new URL("../../tools/local/kept-state.ts", import.meta.url).href;
  const source = `
    const { KeptState } = await import(${JSON.stringify(module)});
    await KeptState.open(${JSON.stringify(folder)}).catch(({ message }) => console.log(message));
  `;
  const { path } = temporary;
  const run = `mount -o remount,ro ${path}; "$0" --input-type=module -e "$1"`;
  const { stdout } = await withMounted(path, "size=64k", run, [process.execPath, source]);
  expect(stdout).toBe(`--keep: ${folder} cannot be written: EROFS, the disk of ${folder} is read-only\n`);
});
