import { createHash } from "node:crypto";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import {
  deleteStoredSecret,
  storeWebhookSecret,
} from "../../../functions/population-density/webhook-secrets/store.ts";
import { hashed } from "../../../shared/hash.ts";
import { boxIn } from "../../support/densities.ts";
import { deliveredBody, requestIn, synchronousBody } from "../../support/jobs.ts";
import { makeDue, useWorker } from "../../support/worker.ts";

const { delivered, densities, harness, output, queued, sink } = useWorker();
const ownSignal = () => AbortSignal.timeout(60_000);

/** Stores a secret of a caller. */
async function secretOf(caller: string): Promise<{ readonly id: string; readonly secret: string }> {
  const id = crypto.randomUUID();
  const secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
  const now = new Date();
  await storeWebhookSecret(caller, { id, secret, createdAt: now.toISOString() }, now, ownSignal());
  return { id, secret };
}

const someCaller = () => hashed(crypto.randomUUID());

/** A received request as `standardwebhooks` takes it. */
interface Message {
  readonly body: string;
  readonly headers: Record<string, string>;
}

function received(index = 0): Message {
  const { body = "", headers = {} } = sink().received()[index] ?? {};
  return { body, headers: headers as Record<string, string> };
}

/** Whether `standardwebhooks` accepts a message. */
function verifies(secret: string, { body, headers }: Message): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const digestOf = (body: string) => `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;

describe("a delivery of a caller with a secret", () => {
  test("standardwebhooks accepts a delivery, and refuses it changed, with another secret, or 301 s later", async () => {
    const caller = someCaller();
    const { secret } = await secretOf(caller);
    const { secret: another } = await secretOf(someCaller());
    const { message } = await queued(sink().urlOf(), { caller });
    await delivered(message);

    const good = received();
    const changed = (name: string, value: string) => ({
      ...good,
      headers: { ...good.headers, [name]: value },
    });
    const later = String(Number(good.headers["webhook-timestamp"]) + 1);
    const { "webhook-signature": _, ...unsigned } = good.headers;
    expect(verifies(secret, good)).toBe(true);
    expect(verifies(secret, { ...good, body: good.body.replace("1234", "1235") })).toBe(false);
    expect(verifies(secret, changed("webhook-id", crypto.randomUUID()))).toBe(false);
    expect(verifies(secret, changed("webhook-timestamp", later))).toBe(false);
    expect(verifies(secret, { ...good, headers: unsigned })).toBe(false);
    expect(verifies(another, good)).toBe(false);
    vi.useFakeTimers({ now: Date.now() + 301_000, toFake: ["Date"] });
    try {
      expect(verifies(secret, good)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a caller with two secrets receives signatures of both, and of the other one once one is deleted", async () => {
    const caller = someCaller();
    const old = await secretOf(caller);
    const url = sink().urlOf();
    const deliver = async () => {
      const { message } = await queued(url, { caller });
      await delivered(message);
    };
    await deliver();
    const next = await secretOf(caller);
    await deliver();
    await deleteStoredSecret(caller, old.id, ownSignal());
    await deliver();

    const accepted = [0, 1, 2].map((index) =>
      [old, next].map(({ secret }) => verifies(secret, received(index))),
    );
    expect(accepted).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ]);
  });

  test.each([0, 2])("a caller with %d secrets receives an answer of more than 2 MB whole", async (count) => {
    const caller = someCaller();
    const secrets: string[] = [];
    while (secrets.length < count) secrets.push((await secretOf(caller)).secret);
    const request = requestIn(boxIn(densities().tile, [0, 0], [31, 31]), 60);
    const { job, message } = await queued(sink().urlOf(), { caller, request });

    expect(await delivered(message)).toBe("ack");

    const { body, headers } = received();
    expect(body.length).toBeGreaterThan(2_000_000);
    expect(body === deliveredBody(job.operationId, await synchronousBody(job))).toBe(true);
    expect(headers["content-length"]).toBe(String(body.length));
    expect(headers["content-digest"]).toBe(count === 0 ? undefined : digestOf(body));
    for (const secret of secrets) expect(verifies(secret, { body, headers })).toBe(true);
  });

  test("a caller receives nothing while DynamoDB refuses to read its secrets, and a signed answer afterwards", async () => {
    const caller = someCaller();
    const { secret } = await secretOf(caller);
    const { job, message } = await queued(sink().urlOf(), { caller });
    harness().tables.inject(({ operation, parameters }) =>
      operation === "GetItem" && JSON.stringify(parameters).includes(caller) ? "refuse" : "pass",
    );

    expect(await delivered(message)).not.toBe("ack");

    expect(sink().received()).toEqual([]);
    harness().tables.inject();
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");
    expect(verifies(secret, received())).toBe(true);
  });

  test("a caller's secret and the signatures appear in no log line, message or stored job", async () => {
    const caller = someCaller();
    const { secret } = await secretOf(caller);
    const { job, message } = await queued(sink().urlOf({ status: 500 }, "reset", { status: 204 }), {
      caller,
    });
    const [queueCalls, tableCalls] = [harness().queues.calls.length, harness().tables.calls.length];
    while ((await delivered(message)) !== "ack") await makeDue(job);

    expect(output().text()).toContain(job.operationId);
    const written =
      output().text() +
      JSON.stringify(harness().queues.calls.slice(queueCalls)) +
      JSON.stringify(harness().tables.calls.slice(tableCalls));
    for (const text of [
      secret,
      secret.slice("whsec_".length),
      received().headers["webhook-signature"] ?? "",
    ]) {
      expect(text).not.toBe("");
      expect(written).not.toContain(text);
    }
  });
});
