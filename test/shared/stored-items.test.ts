import { readFileSync } from "node:fs";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import * as z from "zod";
import { tables } from "../../functions/areas.ts";
import { KeySet } from "../../functions/authorizer/key-set.ts";
import { callerOf, ownIssuer } from "../../functions/authorizer/verify.ts";
import { jobMessage } from "../../functions/population-density/delivery/job.ts";
import { callerIn } from "../../shared/caller.ts";
import { openedWith } from "../../shared/tokens/sealed-subscription.ts";

const { forms, ...byTable } = JSON.parse(readFileSync("test/shared/stored-items.json", "utf8"));

/** Items as DynamoDB returned them, by table; bytes are in base64. */
const stored = z.record(z.string(), z.array(z.record(z.string(), z.looseObject({})))).parse(byTable);

/** What crosses versions besides items, one of each as the version before wrote it. */
const { message, token, sealedSubscription, authorizerContext } = z
  .strictObject({
    message: z.string(),
    token: z.strictObject({ token: z.string(), publicKey: z.record(z.string(), z.string()) }),
    sealedSubscription: z.strictObject({ sealed: z.string(), jti: z.string(), storedKey: z.string() }),
    authorizerContext: z.record(z.string(), z.string()),
  })
  .parse(forms);

const withBytes = ({ B, ...value }: Readonly<Record<string, unknown>>) =>
  (typeof B === "string" ? { B: Buffer.from(B, "base64") } : value) as unknown as AttributeValue;

test.each(tables.map((table) => [table.name, table] as const))(
  "items of %s as releases before have stored them are still read",
  (name, { schema }) => {
    const items = stored[name] ?? [];
    expect(items).not.toEqual([]);
    for (const item of items) {
      const attributes = Object.entries(item).map(([attribute, value]) => [attribute, withBytes(value)]);
      expect(() => schema.parse(unmarshall(Object.fromEntries(attributes)))).not.toThrow();
    }
  },
);

test("no items are kept of a table that does not exist", () => {
  expect(Object.keys(stored).sort()).toEqual(tables.map(({ name }) => name as string).sort());
});

test("a message of the version before names its job", () => {
  expect(jobMessage.parse(JSON.parse(message))).toEqual({
    version: 1,
    operationId: "3f2b8c1e-5d4a-8e6f-9a7b-1c2d3e4f5a6b",
  });
});

const expires = 1_795_654_518;
const caller = {
  client: "demo-client",
  expires,
  subscription: "s-0001",
  purpose: "dpv:FraudPreventionAndDetection",
};

test("a token of the version before, with its sealed subscription, names its caller until it expires", async () => {
  const keys = new KeySet({
    fetch: async () => ({ keys: [token.publicKey] }),
    timeoutMilliseconds: 1_000,
    cooldownMilliseconds: 0,
    retryMilliseconds: 0,
    onFailure: () => undefined,
    onUnusable: () => undefined,
    clock: Date.now,
  });
  const issuer = {
    trusted: ownIssuer("https://network-capabilities.example", "network-capabilities"),
    keys,
    own: {
      openSubscription: async (sealed: string, jti: string) =>
        openedWith(sealedSubscription.storedKey, sealed, jti),
    },
    onMissingSubscription: () => undefined,
  };
  const callerAt = async (second: number) => await callerOf(token.token, [issuer], new Date(second * 1_000));

  expect(await callerAt(expires - 1)).toEqual({ ...caller, scopes: [expect.any(String), caller.purpose] });
  expect(await callerAt(expires + 60)).toBeUndefined();
});

test("a subscription that the version before has sealed is opened for its token alone", () => {
  const { sealed, jti, storedKey } = sealedSubscription;
  expect(openedWith(storedKey, sealed, jti)).toBe("s-0001");
  expect(openedWith(storedKey, sealed, "another")).toBeUndefined();
});

test("a caller is known by the context that the authorizer of the version before has written", () => {
  expect(callerIn(authorizerContext)).toEqual({ ...caller, scopes: ["number-recycling:check"] });
});
