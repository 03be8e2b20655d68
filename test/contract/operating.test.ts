import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { logEntries } from "../../shared/aws/log.ts";
import { setting } from "../../shared/environment.ts";
import { firstUseSeconds, publicKeyCacheSeconds } from "../../shared/token.ts";
import { deployed, resourcesOf } from "../infra/template.ts";

const page = await readFile(new URL("../../docs/operating.md", import.meta.url), "utf8");

/** The lines of the table whose first row has this word as its head. */
function rowsOf(head: string): string[] {
  const lines = page.split("\n");
  const first = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith("|"));
  return lines.slice(first + 2, end);
}

describe("the page of an operator", () => {
  test("has every code that is logged, with its level, and no other", () => {
    const written = rowsOf("Code").map((row) => /^\| `(NCS-\d+)` \| (\w+) \|/.exec(row)?.slice(1) ?? [row]);
    const logged = Object.values(logEntries).map(({ id, level }) => [id, level]);
    expect(written.sort()).toEqual(logged.sort());
  });

  test("has every alarm, and no other", () => {
    const named = rowsOf("Alarm").flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`(…?)(\w+)`/g)].map(([, more = "", name = ""]) => ({
        more,
        name,
      })),
    );
    const described = z.object({ AlarmDescription: z.string() });
    const alarms = ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"]
      .flatMap((type) => resourcesOf(type, described, deployed))
      .filter(({ properties }) => !properties.AlarmDescription.endsWith("A part of another alarm."))
      .map(({ logicalId }) => logicalId.slice(0, -8));
    const rowOf = (alarm: string) =>
      named.find(({ more, name }) => (more === "" ? alarm === name : alarm.endsWith(name)));

    expect(alarms.filter((alarm) => rowOf(alarm) === undefined)).toEqual([]);
    expect(named.filter((row) => !alarms.some((alarm) => rowOf(alarm) === row))).toEqual([]);
  });

  test("has every setting of a deployment, and no other", async () => {
    const source = await readFile(new URL("../../infra/settings.ts", import.meta.url), "utf8");
    const read = [...source.matchAll(/\b(?:text|flag|count|arn|tryGetContext)\(\s*"(\w+)"/g)].map(
      ([, name]) => name,
    );
    const written = rowsOf("Setting, `-c name=value`").flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(written.sort()).toEqual([...new Set(read)].sort());
  });

  test("shows an authorization server as the functions read it", () => {
    const [, example = ""] = /```json setting=TRUSTED_ISSUERS\n([\s\S]+?)```/.exec(page) ?? [];
    expect(setting("TRUSTED_ISSUERS", { TRUSTED_ISSUERS: example })).toEqual(JSON.parse(example));
  });

  test("says how long keys are kept and when a new one signs", () => {
    expect(publicKeyCacheSeconds).toBe(5 * 60);
    expect(page.replaceAll("\n", " ")).toContain("for the five minutes that its `Cache-Control` allows");
    expect(page).toContain(`signs after ${firstUseSeconds / 60} minutes`);
  });

  test("points to places that are there", () => {
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) => path);
    for (const path of links)
      expect(existsSync(new URL(`../../docs/${path}`, import.meta.url)), path).toBe(true);
    expect(links.length).toBeGreaterThan(3);
  });
});
