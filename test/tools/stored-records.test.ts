import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { tables } from "../../functions/areas.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { useOwnTable } from "../support/database.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
let outputs: string;

beforeAll(async () => {
  // All of a table is listed, and other tests store what no command would have stored.
  for (const table of tables) await useOwnTable(table);
  const own = stackOutputs();
  vi.unstubAllEnvs();
  outputs = await folder.write("outputs.json", own);
});
beforeEach(() => useShell());
afterEach(() => vi.unstubAllEnvs());

const unique = Date.now() % 1e8;

/** A record of each kind, what deletes it, and what cannot be had back. */
const kinds = [
  [
    "profiles",
    {
      ID: unique,
      EmailAddress: `Leaver-${unique}@Example.com`,
      Username: "Leaver",
      DateCreated: "2024-01-15T09:00:00Z",
      IsProfilePublic: false,
    },
    `leaver-${unique}@example.com`,
  ],
  ["qos-profiles", { name: `LEAVER_${unique}`, status: "ACTIVE" }, `LEAVER_${unique}`],
  [
    "devices",
    {
      subscription: `leaver-${unique}`,
      phoneNumber: `+4477${unique}`,
      ipv4Addresses: [],
      country: "FR",
      network: "20801",
      imei: "490154203237518",
      softwareVersion: "01",
      model: "3110",
      manufacturer: "Nokia",
      lastChecked: "2026-02-20T10:41:38.657Z",
      identifierConsent: true,
    },
    `+4477${unique}`,
  ],
  [
    "number-assignments",
    { phoneNumber: `+4478${unique}`, subscriber: `leaver-${unique}`, from: "2020-01-01" },
    `+4478${unique}`,
  ],
  [
    "clients",
    {
      clientId: `leaver-${unique}`,
      jwksUri: "https://keys.example.com/jwks",
      scopes: ["qos-profiles:read"],
      grants: ["client_credentials"],
    },
    `leaver-${unique}`,
  ],
] as const;

test.each(kinds)("ncs imports, lists, exports and deletes %s", async (kind, record, identity) => {
  const path = await folder.write(`${kind}.json`, [record]);
  const on = ["--outputs", outputs];
  const named = (text: string) => text.split("\n").filter((line) => line.includes(String(unique)));

  const dry = await runNcs(["import", kind, path, "--dry-run", ...on]);
  expect(dry).toMatchObject({
    code: 0,
    stdout: `1 record could be imported into ${stackNames.dev}; nothing was written\n`,
  });
  expect(named((await runNcs(["list", kind, ...on])).stdout)).toEqual([]);

  const imported = await runNcs(["import", kind, path, ...on]);
  expect(imported.stdout).toBe(`1 record imported into ${stackNames.dev}\n`);
  expect(named((await runNcs(["list", kind, ...on])).stdout)).toHaveLength(1);
  const exported = named((await runNcs(["export", kind, ...on])).stdout);
  expect(exported.map((line) => JSON.parse(line))).toEqual([record]);

  const leavers = await folder.write("leavers.txt", `${identity}\n\n${identity}\n`);
  const tried = await runNcs(["delete", kind, "--file", leavers, "--dry-run", ...on]);
  expect(tried).toMatchObject({ code: 0, stdout: `1 would be deleted from ${stackNames.dev}\n` });
  const deleted = await runNcs(["delete", kind, "--file", leavers, ...on]);
  expect(deleted).toMatchObject({ code: 0, stdout: `1 deleted from ${stackNames.dev}\n` });
  expect(named((await runNcs(["export", kind, ...on])).stdout)).toEqual([]);

  const again = await runNcs(["delete", kind, identity, ...on]);
  expect(again).toMatchObject({ code: 1, stderr: `not stored: ${identity}\n` });
});

test("ncs export writes a login without the hash of its password", async () => {
  const login = { ...kinds[0][1], password: "a password of its own" };
  await runNcs(["import", "profiles", await folder.write("logins.json", [login]), "--outputs", outputs]);
  const { stdout } = await runNcs(["export", "profiles", "--outputs", outputs]);
  expect(stdout).toContain(`Leaver-${unique}@Example.com`);
  expect(stdout).not.toMatch(/passwordHash|scrypt/);
});
