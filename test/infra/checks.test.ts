import { describe, expect, test } from "vitest";
import { dataStackName, densityImportStackName, stackName } from "../../infra/stack-names.ts";
import { checkedNames } from "./shared-templates.ts";
import { readNotes } from "./template.ts";

const { checks } = readNotes();

describe.each(checkedNames)("%s", (name) => {
  const { open, all, acknowledgements } = checks[name] ?? { open: [name], all: [], acknowledgements: [] };

  test("rules were checked: without acknowledgements something is found in each stack", () => {
    const stacks = new Set(all.map((finding) => finding.replace(/^.* (\w+)\/.*$/, "$1")));
    const imported = name === "deployed" ? [] : [densityImportStackName];
    expect([...stacks].sort()).toEqual([stackName, dataStackName, ...imported]);
  });

  test("nothing is found that is not acknowledged", () => {
    expect(open).toEqual([]);
  });

  test("nothing is acknowledged that is not found", () => {
    const idle = acknowledgements.filter(
      ({ path, rule }) => !all.some((finding) => finding.startsWith(`${rule} ${path}`)),
    );
    expect(idle).toEqual([]);
  });

  test("each acknowledgement is on one resource, for one rule, with a reason", () => {
    const found = (rule: string, path: string) =>
      all.filter((finding) => finding === `${rule} ${path}` || finding.startsWith(`${rule} ${path}/`));
    const blanket = acknowledgements.filter(({ path, rule }) => found(rule, path).length !== 1);
    expect(blanket).toEqual([]);
    expect(acknowledgements.filter(({ reason }) => !/^[A-Z].{40,}\.$/.test(reason))).toEqual([]);
  });
});
