import { beforeAll, expect, test } from "vitest";
import { openSubscription, sealSubscription } from "../../../shared/tokens/sealed-subscription.ts";
import { useTables } from "../../support/database.ts";

const signal = AbortSignal.timeout(600_000);
beforeAll(useTables);

test.each(["s-1", "a subscription of 128 characters ".padEnd(128, "é"), "with\0zero"])(
  "the authorizer opens what was sealed for the same jti: %j",
  async (subscription) => {
    const sealed = await sealSubscription(subscription, "token-1", signal);
    expect(await openSubscription(sealed, "token-1", signal)).toBe(subscription);
    expect(await openSubscription(sealed, "token-2", signal)).toBeUndefined();
  },
);

test("the authorizer opens no text that is cut, changed or was never sealed", async () => {
  const sealed = await sealSubscription("s-1", "token-1", signal);
  const changed = (sealed.startsWith("A") ? "B" : "A") + sealed.slice(1);
  for (const text of ["", "s-1", sealed.slice(0, -2), sealed.slice(4), changed]) {
    expect(await openSubscription(text, "token-1", signal), text).toBeUndefined();
  }
});
