import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { densityImportStackName } from "../../infra/stack-names.ts";
import { digestChanges, digestOf } from "./digest.ts";
import { configured, deployed, eachStage, parseOne, sharedFolder } from "./template.ts";

// Pictures for a person to review, not checks: `npx vitest run test/infra/digest.test.ts -u` writes them again.
test.each(eachStage)(
  "the resources, routes and rights of %s are those of its reviewed digest",
  async (stage, from) => {
    await expect(digestOf(from)).toMatchFileSnapshot(`digest-${stage}.txt`);
  },
);

test("every setting together adds and removes what its reviewed digest says", async () => {
  await expect(digestChanges(deployed, configured)).toMatchFileSnapshot("digest-every-setting.txt");
});

test("the stack of the import has the resources and rights of its reviewed digest", async () => {
  const file = join(sharedFolder("densityImport"), `${densityImportStackName}.template.json`);
  const made = parseOne(readFileSync(file, "utf8"));
  await expect(digestOf(made)).toMatchFileSnapshot("digest-density-import.txt");
});
