import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  createWebhookSecret,
  listWebhookSecrets,
} from "../../../functions/population-density/webhook-secrets/contract.ts";
import { webhookSecrets } from "../../../functions/population-density/webhook-secrets/tables.ts";
import { hashed } from "../../../shared/hash.ts";
import { someCaller } from "../../support/client.ts";
import { authorizerContext, eventOf } from "../../support/pipeline.ts";
import { defaultSettings } from "../../support/settings.ts";
import { useHarness } from "../../support/use-harness.ts";

const path = "/populationdensitydata/webhook-secrets";
const scope = "population-density-data:read";
const plenty = { getRemainingTimeInMillis: () => 10_000 };

const { harness, output } = useHarness(defaultSettings);

function secretsOf({ client, send } = someCaller(scope)) {
  return {
    client,
    send,
    create: async () => createWebhookSecret.responses[201].parse((await send("POST", path)).body),
    list: async () => listWebhookSecrets.responses[200].parse((await send("GET", path)).body).secrets,
  };
}

describe("the endpoints", () => {
  test("POST /webhook-secrets creates a secret, which GET lists without its text and DELETE deletes", async () => {
    const { send } = secretsOf();
    const before = Date.now();

    const created = await send("POST", path);

    expect(created.status).toBe(201);
    expect(created.headers.get("cache-control")).toBe("no-store");
    const { id, secret, createdAt } = createWebhookSecret.responses[201].parse(created.body);
    expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(32);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before - 1_000);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now() + 1_000);
    const listed = await send("GET", path);
    expect(listed).toMatchObject({ status: 200, body: { secrets: [{ id, createdAt }] } });
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    const deleted = await send("DELETE", `${path}/${id}`);
    expect(deleted).toMatchObject({ status: 200, body: { secrets: [] } });
    expect((await send("GET", path)).body).toEqual({ secrets: [] });
  });

  test("POST /webhook-secrets returns 429 for a third secret, and 201 once one of two is deleted", async () => {
    const { create, list, send } = secretsOf();
    const [one, other] = [await create(), await create()];
    expect(one.secret).not.toBe(other.secret);

    const third = await send("POST", path);

    expect(third).toMatchObject({ status: 429, body: { code: "TOO_MANY_REQUESTS" } });
    expect(third.headers.get("retry-after")).toBe("60");
    expect((await list()).map(({ id }) => id)).toEqual([one.id, other.id]);
    expect((await send("DELETE", `${path}/${one.id}`)).body).toMatchObject({ secrets: [{ id: other.id }] });
    const replacing = await create();
    expect((await list()).map(({ id }) => id)).toEqual([other.id, replacing.id]);
  });

  test("POST /webhook-secrets creates two secrets for eight simultaneous requests", async () => {
    const { send, list } = secretsOf();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send("POST", path)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 429, 429, 429, 429, 429, 429]);
    const created = answers.flatMap(
      ({ body }) => z.object({ id: z.string() }).safeParse(body).data?.id ?? [],
    );
    expect((await list()).map(({ id }) => id).sort()).toEqual(created.sort());
  });

  test("DELETE /webhook-secrets/{id} returns 200 when repeated, and deletes no other caller's secret", async () => {
    const { create, list, send } = secretsOf();
    const { id } = await create();
    const other = secretsOf();

    expect(await other.send("DELETE", `${path}/${id}`)).toMatchObject({ status: 200, body: { secrets: [] } });
    expect(await list()).toMatchObject([{ id }]);
    for (let time = 0; time < 2; time++) {
      expect(await send("DELETE", `${path}/${id}`)).toMatchObject({ status: 200, body: { secrets: [] } });
    }
  });
});

const ownSignal = () => AbortSignal.timeout(60_000);

describe("a caller whose login was erased", () => {
  const second = () => Math.floor(Date.now() / 1_000);
  const erase = async (client: string, until: number) => {
    const store = await import("../../../functions/population-density/webhook-secrets/store.ts");
    await store.eraseWebhookSecrets(hashed(client), until, ownSignal());
  };

  test("POST /webhook-secrets returns 403 until the erased login's last token has expired", async () => {
    const { client, create, list, send } = secretsOf();
    const { id } = await create();
    await erase(client, second() + 600);

    const refused = await send("POST", path);

    expect(refused).toMatchObject({ status: 403, body: { code: "PERMISSION_DENIED" } });
    expect(refused.body).toMatchObject({ message: expect.stringContaining("erased") });
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(await list()).toEqual([]);
    expect(await send("DELETE", `${path}/${id}`)).toMatchObject({ status: 200, body: { secrets: [] } });
    expect(await send("POST", path)).toMatchObject({ status: 403 });
  });

  test("a secret is stored from the second on in which the erased login's last token expires, and not before", async () => {
    const store = await import("../../../functions/population-density/webhook-secrets/store.ts");
    const caller = crypto.randomUUID();
    const secret = { id: crypto.randomUUID(), secret: "whsec_YQ", createdAt: "2026-11-29T00:00:00.000Z" };
    await store.eraseWebhookSecrets(caller, 2_000_000_000, ownSignal());
    const storeAt = (milliseconds: number) =>
      store.storeWebhookSecret(caller, secret, new Date(milliseconds), ownSignal());

    expect(await storeAt(1_999_999_999_999)).toBe("erased");
    expect(await storeAt(2_000_000_000_000)).toBe("stored");
  });

  test("POST /webhook-secrets returns 201 after that, and its secret outlasts what DynamoDB deletes late", async () => {
    const { client, create, list } = secretsOf();
    await erase(client, second() - 1);

    const { id } = await create();

    expect(await list()).toMatchObject([{ id }]);
    const { getItem } = await import("../../../shared/aws/database.ts");
    const stored = await getItem(webhookSecrets, { caller: hashed(client) }, ownSignal());
    expect(stored).not.toHaveProperty("expiresAt");
  });
});

describe("a table that fails", () => {
  const isSecretWrite = ({ operation, parameters }: { operation: string; parameters: object }) =>
    operation === "UpdateItem" && JSON.stringify(parameters).includes("#secrets");

  test("storeWebhookSecret has stored the secret when the response to its write is lost", async () => {
    const store = await import("../../../functions/population-density/webhook-secrets/store.ts");
    const caller = hashed(crypto.randomUUID());
    const secretOf = (id: string) => ({ id, secret: `whsec_${id}`, createdAt: new Date().toISOString() });
    for (const id of ["one", "two"]) {
      harness().tables.inject((aws) => (isSecretWrite(aws) && aws.attempt === 1 ? "lose" : "pass"));
      const outcome = await store.storeWebhookSecret(caller, secretOf(id), new Date(), ownSignal());
      expect(outcome).toBe("stored");
    }
    harness().tables.inject();
    const stored = await store.readWebhookSecrets(caller, ownSignal());
    expect(stored.map(({ id }) => id).sort()).toEqual(["one", "two"]);
  });

  test("POST /webhook-secrets returns 503 and deletes the secret again when it cannot return it", async () => {
    const { handler } = await import(
      "../../../functions/population-density/webhook-secrets/create-webhook-secret.ts"
    );
    const store = await import("../../../functions/population-density/webhook-secrets/store.ts");
    const client = crypto.randomUUID();
    // It is stored, and nobody learns of it.
    harness().tables.inject((aws) =>
      isSecretWrite(aws) && JSON.stringify(aws.parameters).includes("whsec_") ? "lose" : "pass",
    );

    const { statusCode } = await handler(
      eventOf({ authorizer: authorizerContext({ client, scope }) }),
      plenty,
    );

    expect(statusCode).toBe(503);
    harness().tables.inject();
    expect(await store.readWebhookSecrets(hashed(client), ownSignal())).toEqual([]);
    expect(output().text()).not.toContain("whsec_");
  });
});
