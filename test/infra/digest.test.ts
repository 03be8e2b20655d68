import { expect, test } from "vitest";
import { digestOf } from "./digest.ts";
import { eachStage } from "./template.ts";

// A picture for a person to review, not a check: `npx vitest run test/infra/digest.test.ts -u` writes it again.
test.each(eachStage)(
  "the resources, routes and rights of %s are those of its reviewed digest",
  async (stage, from) => {
    await expect(digestOf(from)).toMatchFileSnapshot(`digest-${stage}.txt`);
  },
);
