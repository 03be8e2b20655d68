import { describe, expect, test } from "vitest";
import { stackName } from "../../infra/stack-names.ts";
import { checkedNames } from "./shared-templates.ts";
import { readNotes } from "./template.ts";

const { checks } = readNotes();

describe.each(checkedNames)("%s", (name) => {
  const { open, all, acknowledgements, violations } = checks[name] ?? {
    open: [name],
    all: [],
    acknowledgements: [],
    violations: [name],
  };

  test(`CDK's validation finds nothing that CloudFormation would refuse in ${name}`, () => {
    expect(violations).toEqual([]);
  });

  // It has no rule for what the stack of the tables has: global tables, whose backups `guarantees.test.ts` holds.
  test(`cdk-nag looks at every stack of ${name}, except that of the tables: it finds something in each without acknowledgements`, () => {
    const stacks = new Set(all.map((finding) => finding.replace(/^.* (\w+)\/.*$/, "$1")));
    expect([...stacks]).toEqual([stackName]);
  });

  test(`cdk-nag finds nothing in ${name} that is not acknowledged`, () => {
    expect(open).toEqual([]);
  });

  test(`each acknowledgement of ${name} is for one rule on one resource that cdk-nag finds`, () => {
    const found = (rule: string, path: string) =>
      all.filter((finding) => finding === `${rule} ${path}` || finding.startsWith(`${rule} ${path}/`));
    expect(acknowledgements.filter(({ path, rule }) => found(rule, path).length !== 1)).toEqual([]);
  });
});
