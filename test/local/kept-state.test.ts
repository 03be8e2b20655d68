import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { KeptState } from "../../tools/local/kept-state.ts";
import { canMount, withMounted } from "../support/mounted.ts";

const now = new Date("2026-11-22T12:00:00Z");
const secret = { arn: "arn:secret", name: "secret", versions: [] };

let temporary: TemporaryFolder;
let folder: string;
beforeEach(() => {
  temporary = temporaryFolder("kept-state-");
  folder = join(temporary.path, "kept");
});
afterEach(() => temporary.remove());

/** Uses a folder as one start does. */
async function withState<Result>(use: (kept: KeptState) => Result, data?: string): Promise<Awaited<Result>> {
  const kept = await KeptState.open(folder, data);
  try {
    return await use(kept);
  } finally {
    await kept.close();
  }
}

/** Completes a first start that has imported `/data`. */
const finishFirstStart = () =>
  withState(async (kept) => {
    await kept.keepSecrets([]);
    await kept.finishFirstStart("/data", now);
  });

test("npm start --keep returns on a later start what the first one imported", async () => {
  await finishFirstStart();
  const firstStart = { data: "/data", since: "2026-11-22T12:00:00.000Z" };
  expect(await withState((kept) => kept.firstStart)).toEqual(firstStart);
});

test("npm start --keep returns the secrets that were written last, also when several writes overlapped", async () => {
  const versions = [{ id: "1", value: "a key", labels: ["AWSCURRENT"], createdSeconds: 1 }];
  const last = { ...secret, rotationFunctionArn: "arn:function", versions };
  await withState(async (kept) => {
    await Promise.all([[], [secret], [last]].map((each) => kept.keepSecrets(each)));
    await kept.finishFirstStart("/data", now);
  });
  expect(await withState((kept) => kept.secrets)).toEqual([last]);
});

test("npm start --keep begins empty when the first start ended before its data were imported", async () => {
  await withState(async (kept) => {
    writeFileSync(join(kept.tables, "half"), "");
    await kept.keepSecrets([secret]);
  });
  const { secrets, tables } = await withState((kept) => kept);
  expect(secrets).toEqual([]);
  expect(() => statSync(join(tables, "half"))).toThrow("ENOENT");
});

test.skipIf(process.platform === "win32")(
  "npm start --keep gives other users no access to its files",
  async () => {
    const { tables, queues } = await withState((kept) => kept);
    const modes = [join(folder, "service"), tables, queues].map((path) => statSync(path).mode & 0o077);
    expect(modes).toEqual([0, 0, 0]);
  },
);

test("npm start --keep refuses a folder that another start uses, or with other files", async () => {
  const inUse = `${folder} is in use: stop the other npm start, or choose another folder`;
  await withState(async () => expect(KeptState.open(folder, undefined)).rejects.toThrow(inUse));
  await expect(KeptState.open(temporary.path, undefined)).rejects.toThrow("contains other files");
});

test("npm start --keep refuses a folder of another version", async () => {
  await finishFirstStart();
  const db = new ClassicLevel<string, unknown>(join(folder, "service"), { valueEncoding: "json" });
  await db.put("format", 999);
  await db.close();
  await expect(KeptState.open(folder, undefined)).rejects.toThrow("was created by another version");
});

test("npm start --keep refuses other data than the folder began with, and accepts the same", async () => {
  await finishFirstStart();
  await expect(KeptState.open(folder, "/other")).rejects.toThrow("already has the data of /data");
  const place = { name: "Suva, Fiji", at: "-18.14,178.44" };
  await withState((kept) => kept.finishFirstStart("/data", now, place), "/data");
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
