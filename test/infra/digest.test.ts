import { expect, test } from "vitest";
import { digestChanges, digestOf } from "./digest.ts";
import { configured, deployed, eachStage } from "./template.ts";

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
