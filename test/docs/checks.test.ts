import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isWhole } from "../support/sample.ts";
import { cdkProblems, commandProblems, commandsIn } from "./commands.ts";
import { diagramProblems } from "./diagrams.ts";
import { fencesIn, placeOf } from "./fences.ts";
import { differenceOf } from "./shown-output.ts";
import { missingFrom } from "./trees.ts";

test("fencesIn returns the line, language and marks of each block, also in lists and quotes", () => {
  const folder = mkdtempSync(join(tmpdir(), "network-capabilities-fences-"));
  const file = join(folder, "page.md");
  writeFileSync(
    file,
    "# A\n\n```sh status=404 needs-aws\na\n```\n\n- b\n\n  ```js server=a.mjs\n  c\n  ```\n\n> ~~~json\n> {}\n> ~~~\n\n```\nd\n```\n",
  );
  try {
    expect(
      fencesIn(file).map((fence) => [placeOf(fence).slice(file.length), fence.language, [...fence.marks]]),
    ).toEqual([
      [
        ":3",
        "sh",
        [
          ["status", "404"],
          ["needs-aws", ""],
        ],
      ],
      [":9", "js", [["server", "a.mjs"]]],
      [":13", "json", []],
      [":17", "", []],
    ]);
    expect(fencesIn(file).map(({ text }) => text)).toEqual(["a", "c", "{}", "d"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("differenceOf", () => {
  test.each([
    ['{"a":1,"b":[1,2]}', '{ "b": [1, 2], "a": 1 }'],
    ['{"a":1,"…":"…"}', '{"a":1,"b":2}'],
    ['{"a":"…"}', '{"a":[{"b":2}]}'],
    ['["x","…"]', '["x","y","z"]'],
    ['{"id":"7a…"}', '{"id":"7a1f"}'],
    ["HTTP/1.1 404 …\nx: y", "HTTP/1.1 404 Not Found  \r\nx: y\n"],
  ])("differenceOf finds no difference between shown %j and written %j", (shown, actual) => {
    expect(differenceOf(shown, actual)).toBeUndefined();
  });

  test.each([
    ['{"a":1}', '{"a":2}'],
    ['{"a":1}', '{"a":1,"b":2}'],
    ['{"a":1,"…":"…"}', '{"a":1}'],
    ['["x"]', '["x","y"]'],
    ['{"a":"…"}', "{}"],
    ['{"id":"7a…"}', '{"id":71}'],
    ['{"a":1}', "curl: (7)"],
    ["a …\nb", "a x\nc"],
  ])("differenceOf reports a difference between shown %j and written %j", (shown, actual) => {
    expect(differenceOf(shown, actual)).toContain(actual);
  });
});

describe("commandsIn and their problems", () => {
  test("commandsIn splits a text into commands and words as a shell does", () => {
    const text = [
      "npx cdk deploy --all -c stage=dev # to try",
      "A=1 npm run ncs -- jobs show 'one id' \\\n  --outputs p.json > out && npm test | cat",
      'echo "$(date -u +%F)".csv',
    ].join("\n");
    expect(commandsIn(text)).toEqual([
      ["npx", "cdk", "deploy", "--all", "-c", "stage=dev"],
      ["npm", "run", "ncs", "--", "jobs", "show", "one id", "--outputs", "p.json"],
      ["npm", "test"],
      ["cat"],
      ["echo", "$(date -u +%F).csv"],
    ]);
  });

  test.each([
    "npm run chek",
    "npm run ncs jobs list",
    "npm run ncs -- jobs lst --outputs prod.json",
    "npm run ncs -- jobs list --output prod.json",
    "npm run ncs -- jobs list ID --outputs prod.json",
    "npm run ncs -- import density --outputs prod.json --coverage rows",
    "npm run bench -- nothing-like-it",
    "npm start -- --prot 1",
    "npx cdk deploy -c stages=dev",
    "npx cdk bootstrap",
    "npx no-such-program",
    "npx vitest run test/none.test.ts",
    "npx vitest run -t 'a name that no test \u0068as'",
    "deploy-it",
  ])("commandProblems reports a problem of: %s", async (text) => {
    const [command] = commandsIn(text);
    expect(await commandProblems(command ?? [""])).not.toEqual([]);
  });

  // Running cdk takes a second, so only when tests run whole.
  test.runIf(isWhole)("cdkProblems reports an option that CDK does not have", () => {
    expect(cdkProblems(["npx", "cdk", "bootstrap", "--qualifier", "a", "--quallifier"])).toEqual([
      "cdk bootstrap has no --quallifier",
    ]);
  });
});

describe("diagramProblems", () => {
  test.each([
    "flowchart LR\n  a[text] -->|label| b([text]) & c",
    "sequenceDiagram\n  actor a\n  alt x\n    a->>b: text\n  else y\n    b-->>a: text\n  end",
    "stateDiagram-v2\n  [*] --> a: text\n  state a {\n    b --> c\n  }",
  ])("diagramProblems accepts %j", (diagram) => {
    expect(diagramProblems(diagram)).toEqual([]);
  });

  test.each([
    "flowchart LR\n  a[text -->|label| b",
    "flowchart LR\n  a -- b",
    "flow LR\n  a --> b",
    "sequenceDiagram\n  alt x\n  a->>b: text",
    "sequenceDiagram\n  a->>b text",
    "stateDiagram-v2\n  a -> b",
    "stateDiagram-v2\n  state a {\n  b --> c",
  ])("diagramProblems reports a problem of %j", (diagram) => {
    expect(diagramProblems(diagram)).not.toEqual([]);
  });
});

test("missingFrom returns the files of a drawn tree that do not exist", () => {
  const tree = (name: string) => `test/   mirrors all\n  docs/   commands  ${name}\nclient/  for callers`;
  expect(missingFrom(tree("fences"))).toEqual([]);
  expect(missingFrom(tree("fancies"))).toEqual(["test/docs/fancies"]);
  expect(missingFrom("tests/   mirrors all")).toEqual(["tests/"]);
});
