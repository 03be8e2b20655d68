import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { nodeListener } from "../../client/node-listener.ts";
import { createReceiver, type ReceiverOptions } from "../../client/receiver.ts";
import type { PopulationDensityDelivery } from "../../client/schema.d.ts";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";

const accessToken = "sink-token";
const cell = {
  geohash: "u05kq4x",
  dataType: "DENSITY_ESTIMATION",
  pplDensity: 8,
  minPplDensity: 7,
  maxPplDensity: 9,
};
const hour = {
  startTime: "2026-11-23T11:00:00Z",
  endTime: "2026-11-23T12:00:00Z",
  cellPopulationDensityData: [cell],
};

function deliveryOf(operationId: string = crypto.randomUUID()) {
  return { operationId, status: "SUPPORTED_AREA", timedPopulationDensityData: [hour] };
}

interface DeliveryRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | ReadableStream;
}

const post = ({ method = "POST", headers = {}, body = JSON.stringify(deliveryOf()) }: DeliveryRequest = {}) =>
  new Request("https://receiver.example/densities", {
    method,
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json", ...headers },
    ...(method === "GET" ? {} : { body, duplex: "half" }),
  });

let handedOver: PopulationDensityDelivery[];
beforeEach(() => {
  handedOver = [];
});

const receiver = (options: Partial<ReceiverOptions> = {}) =>
  createReceiver({ accessToken, onDelivery: (delivery) => void handedOver.push(delivery), ...options });

test("a receiver answers 204 to a delivery", async () => {
  const body = deliveryOf();
  const headers = { "webhook-id": body.operationId, "content-encoding": "identity" };
  expect((await receiver()(post({ body: JSON.stringify(body), headers }))).status).toBe(204);
  expect(handedOver).toEqual([body]);
});

test("a receiver answers 204 to a reported failure", async () => {
  const failure = {
    ...deliveryOf(),
    status: "OPERATION_NOT_COMPLETED",
    statusInfo: "No.",
    timedPopulationDensityData: [],
  };
  expect((await receiver()(post({ body: JSON.stringify(failure) }))).status).toBe(204);
  expect(handedOver).toEqual([failure]);
});

test.each([
  ["without a token", { authorization: "" }],
  ["with another token", { authorization: "Bearer sink-tokem" }],
  ["with text after the token", { authorization: "Bearer sink-token " + "x" }],
  ["with the token in another scheme", { authorization: "Basic sink-token" }],
])("a receiver answers 401 to a request %s", async (_, headers) => {
  const { status, headers: answered } = await receiver()(post({ headers }));
  expect([status, answered.get("www-authenticate")]).toEqual([401, "Bearer"]);
  expect(handedOver).toEqual([]);
});

test.each([
  ["another method", { method: "GET" }, 405],
  ["a body packed by gzip", { headers: { "content-encoding": "gzip" } }, 415],
  ["a body packed by Brotli", { headers: { "content-encoding": "BR" } }, 415],
  ["a body that is not JSON", { body: "{" }, 400],
  ["no body", { body: "" }, 400],
  ["another schema", { body: JSON.stringify({ ...deliveryOf(), status: "FINE" }) }, 400],
  ["the id of another operation", { headers: { "webhook-id": crypto.randomUUID() } }, 400],
  [
    "a body above its limit",
    { body: JSON.stringify({ ...deliveryOf(), statusInfo: "x".repeat(2_000) }) },
    413,
  ],
] satisfies readonly [string, DeliveryRequest, number][])(
  "a receiver refuses %s",
  async (_, request, status) => {
    expect((await receiver({ maxBytes: 1_000 })(post(request))).status).toBe(status);
    expect(handedOver).toEqual([]);
  },
);

test("a receiver hands over an outcome once when copies arrive at the same time", async () => {
  const body = JSON.stringify(deliveryOf());
  const receive = receiver();
  const statuses = await Promise.all([receive(post({ body })), receive(post({ body }))]);
  statuses.push(await receive(post({ body })));
  expect(statuses.map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(handedOver.length).toBe(1);
});

test("a receiver does not hand over an outcome that its owner already has", async () => {
  const known = deliveryOf();
  const receive = receiver({ wasDelivered: async (operationId) => operationId === known.operationId });
  expect((await receive(post({ body: JSON.stringify(known) }))).status).toBe(204);
  expect(handedOver).toEqual([]);
});

test("a receiver answers 503 when a delivery cannot be stored, and accepts the next attempt", async () => {
  const failures = [new Error("disk full")];
  const receive = receiver({
    onDelivery: async (delivery) => {
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
      handedOver.push(delivery);
    },
  });
  const body = JSON.stringify(deliveryOf());
  expect((await receive(post({ body }))).status).toBe(503);
  expect((await receive(post({ body }))).status).toBe(204);
  expect(handedOver.length).toBe(1);
});

test("a receiver accepts exactly the bodies that the service's own schema accepts", async () => {
  const members = {
    status: "SUPPORTED_AREA",
    hours: [hour],
    geohash: "u05",
    number: 1,
    time: hour.endTime,
  };
  const values = fc.constantFrom<unknown>(
    ...Object.values(members),
    -1,
    1.5,
    null,
    "",
    [],
    {},
    "NO_DATA",
    undefined,
  );
  const parts = [
    ["operationId"],
    ["status"],
    ["statusInfo"],
    ["timedPopulationDensityData"],
    ["timedPopulationDensityData", 0, "startTime"],
    ["timedPopulationDensityData", 0, "cellPopulationDensityData"],
    ["timedPopulationDensityData", 0, "cellPopulationDensityData", 0, "geohash"],
    ["timedPopulationDensityData", 0, "cellPopulationDensityData", 0, "dataType"],
    ["timedPopulationDensityData", 0, "cellPopulationDensityData", 0, "maxPplDensity"],
  ] as const;
  const receive = receiver();
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...parts), values, async (path, value) => {
      const changed = structuredClone(deliveryOf());
      set(changed, path, value);
      const body = JSON.stringify(changed);
      const isValid = retrievePopulationDensity.callback.body.safeParse(JSON.parse(body)).success;
      if (isValid) accepted++;
      expect((await receive(post({ body }))).status).toBe(isValid ? 204 : 400);
    }),
    { numRuns: 150 },
  );
  expect(accepted).toBeGreaterThan(0);
  expect(handedOver.length).toBe(accepted);
});

describe("a receiver with a webhook secret", () => {
  const secretOf = () =>
    `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
  const webhookSecret = secretOf();
  const now = Date.parse("2026-11-23T10:00:00Z");
  beforeEach(() => vi.useFakeTimers({ now, toFake: ["Date"] }));
  afterEach(() => vi.useRealTimers());

  const signedReceiver = () =>
    createReceiver({ webhookSecret, onDelivery: (delivery) => void handedOver.push(delivery) });

  /** A delivery that is signed, with further headers. */
  function signed(more: Record<string, string> = {}) {
    const delivery = deliveryOf();
    const body = JSON.stringify(delivery);
    const { operationId } = delivery;
    const headers = {
      authorization: "",
      "webhook-id": operationId,
      "webhook-timestamp": String(now / 1_000),
      "webhook-signature": new Webhook(webhookSecret).sign(operationId, new Date(now), body),
      ...more,
    };
    return post({ headers, body });
  }

  test("a receiver hands a replayed delivery over once, and refuses it when it is stale", async () => {
    const receive = signedReceiver();
    const request = signed();
    const copies = [request.clone(), request.clone(), request.clone()] as const;
    expect((await receive(copies[0])).status).toBe(204);
    expect((await receive(copies[1])).status).toBe(204);
    expect(handedOver).toHaveLength(1);
    vi.setSystemTime(now + 301_000);
    expect((await createReceiver({ webhookSecret, onDelivery: () => {} })(copies[2])).status).toBe(401);
  });

  const forged = (body: string | ReadableStream, more: Record<string, string> = {}) =>
    post({
      headers: {
        "webhook-id": crypto.randomUUID(),
        "webhook-timestamp": String(now / 1_000),
        "webhook-signature": `v1,${"A".repeat(43)}=`,
        ...more,
      },
      body,
    });

  test.each([
    ["without an id", { "webhook-id": "" }, 401],
    ["without a signature", { "webhook-signature": "v1,AAAA" }, 401],
    ["of a time that is none", { "webhook-timestamp": "1e9" }, 401],
    ["that is stale", { "webhook-timestamp": String(now / 1_000 - 301) }, 401],
    ["that is packed", { "content-encoding": "gzip" }, 415],
  ])("a receiver does not read a delivery %s", async (_, headers, status) => {
    let isRead = false;
    const pull = () => {
      isRead = true;
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    expect((await signedReceiver()(forged(body, headers))).status).toBe(status);
    expect(isRead).toBe(false);
  });

  test("a receiver makes no text of a body before its signature holds", async () => {
    const decode = vi.spyOn(TextDecoder.prototype, "decode");
    expect((await signedReceiver()(forged("{}"))).status).toBe(401);
    expect(decode).not.toHaveBeenCalled();
    expect((await signedReceiver()(signed())).status).toBe(204);
    expect(decode).toHaveBeenCalled();
  });

  test("a receiver of 1,000 bytes answers 503 to 600 more than 600 that are not verified, until these are refused", async () => {
    const receive = createReceiver({ webhookSecret, maxBytes: 1_000, onDelivery: () => {} });
    const begun = async () => {
      const { readable, writable } = new TransformStream();
      const answer = receive(forged(readable));
      const writer = writable.getWriter();
      await writer.write(new Uint8Array(600));
      await setImmediate();
      return { answer, writer };
    };
    const statusOfNext = async () => (await receive(forged("x".repeat(600)))).status;

    const ending = new AbortController();
    vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(ending.signal);
    const slow = await begun();
    expect(AbortSignal.timeout).toHaveBeenCalledWith(300_000);
    expect(await statusOfNext()).toBe(503);
    ending.abort();
    await expect(slow.answer).rejects.toThrow("aborted");
    expect(await statusOfNext()).toBe(401);

    const refused = await begun();
    expect(await statusOfNext()).toBe(503);
    await refused.writer.close();
    expect((await refused.answer).status).toBe(401);
    expect(await statusOfNext()).toBe(401);
  });

  test("a receiver accepts exactly the signatures that standardwebhooks accepts", async () => {
    const delivery = deliveryOf();
    const { operationId } = delivery;
    const body = JSON.stringify(delivery);
    const oracle = new Webhook(webhookSecret);
    const part = fc.record({
      version: fc.constantFrom("v1", "v1", "v1a", "v2", ""),
      secret: fc.constantFrom(webhookSecret, webhookSecret, secretOf()),
      seconds: fc.constantFrom(0, 0, -300, 300, -301, 301, 1),
      more: fc.constantFrom("", "", "=", " ", "v1"),
    });
    const seen = { 204: 0, 401: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 2 }),
        fc.boolean(),
        async (parts, isWhole) => {
          const texts = parts.map(({ version, secret, seconds, more }) => {
            const signature = new Webhook(secret).sign(operationId, new Date(now + seconds * 1_000), body);
            return `${version},${signature.split(",")[1]}${more}`;
          });
          const headers = {
            "webhook-id": operationId,
            "webhook-timestamp": String(now / 1_000 + (parts[0]?.seconds ?? 0)),
            "webhook-signature": texts.join(" "),
          };
          const sent = isWhole ? body : `${body} `;
          const expected = accepts(oracle, sent, headers) ? 204 : 401;
          seen[expected]++;
          expect((await signedReceiver()(post({ headers, body: sent }))).status).toBe(expected);
        },
      ),
      { numRuns: 300 },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
    expect(handedOver).toHaveLength(seen[204]);
  });

  test("a receiver requires the access token, too, if it is given both", async () => {
    const receive = receiver({ webhookSecret });
    expect((await receive(signed())).status).toBe(401);
    const authorization = `Bearer ${accessToken}`;
    expect((await receive(signed({ authorization }))).status).toBe(204);
  });

  test("a receiver is not created with an empty secret or token, or without both", () => {
    const onDelivery = () => {};
    for (const empty of ["", undefined as unknown as string]) {
      expect(() => receiver({ webhookSecret: empty })).toThrow("webhookSecret must not be empty");
      expect(() => receiver({ accessToken: empty })).toThrow("accessToken must not be empty");
    }
    expect(() => createReceiver({ onDelivery })).toThrow("accessToken or webhookSecret must be given");
    expect(() => receiver({ webhookSecret: "whsec_?" })).toThrow("webhookSecret must be whsec_ and base64");
  });
});

function accepts(oracle: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    oracle.verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

function set(target: object, path: readonly (string | number)[], value: unknown): void {
  const [last = "", ...before] = [...path].reverse();
  const owner = before.reverse().reduce<object>((found, step) => Reflect.get(found, step), target);
  Reflect.set(owner, last, value);
}

describe("nodeListener", () => {
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const receive = createReceiver({ accessToken, onDelivery: (delivery) => void handedOver.push(delivery) });
    ({ url, close } = await listen(createServer(nodeListener(receive)), 0));
  });
  afterAll(() => close());

  test("a Node.js server with a receiver accepts a delivery in chunks, and refuses what its receiver refuses", async () => {
    const delivery = deliveryOf();
    const { method, headers } = post();
    const bytes = new TextEncoder().encode(JSON.stringify(delivery));
    const body = ReadableStream.from([bytes.subarray(0, 20), bytes.subarray(20)]);
    const answer = await fetch(url, { method, headers, body, duplex: "half" } as RequestInit);
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(handedOver).toEqual([delivery]);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method, body: "{}" })).status).toBe(401);
  });

  test("a Node.js server with a receiver holds nothing of a body that it refuses, and answers while it comes", async () => {
    const receive = receiver({ maxBytes: 1_000_000 });
    let didRead: boolean | undefined;
    let message: IncomingMessage;
    const listener = nodeListener(async (request) => {
      const answer = await receive(request);
      await setImmediate();
      didRead = message.readableDidRead;
      return answer;
    });
    const server = createServer((request, reply) => {
      message = request;
      return listener(request, reply);
    });
    const { url, close } = await listen(server, 0);
    onTestFinished(close);
    const { method, headers } = post();
    const body = new Uint8Array(4_000_000);

    expect((await fetch(url, { method, headers, body })).status).toBe(413);
    expect((await fetch(url, { method, body })).status).toBe(401);
    expect(didRead).toBe(false);
  });

  test("a Node.js server with a receiver answers nothing to a truncated body, and hands nothing over", async () => {
    const body = JSON.stringify(deliveryOf());
    const request = httpRequest(url, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}`, "content-length": body.length + 1 },
    });
    const answered = new Promise((resolve) => {
      request.once("response", resolve).once("error", () => resolve("no answer"));
    });
    request.write(body, () => request.destroy());
    expect(await answered).toBe("no answer");
    // The listener has seen the end of the connection when it answers the next request.
    expect((await fetch(url)).status).toBe(405);
    expect(handedOver).toEqual([]);
  });
});
