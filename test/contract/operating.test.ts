import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { settingNames } from "../../infra/settings.ts";
import { commandLineSettings } from "../../infra/settings-source.ts";
import { configuration } from "../../infra/variables.ts";

const pageOf = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");

/** The names in the first column of a page's table with this head. */
async function namesUnder(name: string, head: string): Promise<string[]> {
  const [, table = ""] = (await pageOf(name)).split(`\n| ${head} |`);
  const [rows = ""] = table.split("\n\n");
  const firstCells = rows
    .split("\n")
    .slice(2)
    .map((row) => row.split(" | ")[0] ?? "");
  return firstCells.flatMap((cell) => [...cell.matchAll(/`([\w.<>]+)`/g)].map(([, name = ""]) => name));
}

test("docs/configuration.md has each variable with its default and, of a number, its range", async () => {
  const rows = (await pageOf("configuration.md")).split("\n").filter((line) => line.startsWith("| `"));
  const rowOf = (name: string) => rows.find((row) => row.split(" | ")[0]?.includes(`\`${name}\``)) ?? "";
  const grouped = (digits: string | undefined) => Number(digits).toLocaleString("en");
  const missing = Object.entries(configuration).flatMap(([name, { default: value, format }]) => {
    const [, min, max] = /^be a whole number from (\d+) to (\d+)$/.exec(format().must) ?? [];
    const stated = [value, ...(min === undefined ? [] : [`${grouped(min)} to ${grouped(max)}`])];
    return stated.filter((text) => !rowOf(name).includes(text)).map((text) => `${name}: ${text}`);
  });

  expect(rows.length).toBeGreaterThan(Object.keys(configuration).length / 2);
  expect(missing).toEqual([]);
});

test("docs/configuration.md has a row for every setting of a deployment, and for no other", async () => {
  const settings = [...settingNames()]
    .filter((name) => !Object.hasOwn(configuration, name))
    .map((name) => name.replace(/^(tables|warmThroughput)\..*/, "$1.<name>"));

  const once = await namesUnder("configuration.md", "Of one deployment, `-c name=value`");
  const others = await namesUnder("configuration.md", "Setting");
  expect(once.sort()).toEqual([...commandLineSettings].sort());
  expect([...once.filter((name) => name !== "settings"), ...others].sort()).toEqual(
    [...new Set(settings)].sort(),
  );
});
