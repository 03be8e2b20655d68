import { expect, onTestFinished, test } from "vitest";
import { Functions } from "../../tools/local/lambda/functions.ts";
import { methodOf, openGate, useFunctions, useGateways } from "./sample.ts";

/** Does what the event asks, and otherwise reports. */
const source = `
import { setTimeout as wait } from "node:timers/promises";
import { threadId } from "node:worker_threads";
let count = 0;
const does = {
  throw: () => { throw new TypeError("a secret of the inside"); },
  exit: () => process.exit(3),
  uncaught: () => new Promise(() => setTimeout(() => { throw new Error("late"); }, 1)),
  nothing: () => undefined,
  text: () => ({ statusCode: 200, body: { not: "text" } }),
  status: () => ({ statusCode: "200", body: "" }),
  header: () => ({ statusCode: 200, headers: { "x-bad": "a\\nb" } }),
  large: () => ({ statusCode: 200, body: "x".repeat(7 * 1024 * 1024) }),
};
const waits = {
  hang: () => new Promise(() => {}),
  block: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  beat: () => wait(300),
  until: ({ address }) => fetch(address),
};
export const handler = async (event, { awsRequestId: id, functionName, getRemainingTimeInMillis }) => {
  const asked = event.queryStringParameters?.do ?? event.do;
  if (asked in does) return does[asked]();
  await waits[asked]?.(event);
  console.log(JSON.stringify({ handled: id }));
  const context = { id, functionName, remaining: getRemainingTimeInMillis() };
  return { statusCode: 200, code: "CODE", thread: threadId, count: ++count, environment: process.env, context };
};
`;

const { functions, groupOf, logs, sink, served } = useFunctions(source.replace("CODE", "first"), {
  sample: {},
  brief: { timeoutSeconds: 0.5 },
});
const open = useGateways();

interface Report {
  readonly code: string;
  readonly thread: number;
  readonly environment: object;
  readonly context: { readonly id: string; readonly remaining: number };
}
const invoke = async (event: unknown, options = {}) =>
  (await functions().invoke("sample", event, options)) as Report;

test.each(["throw", "exit", "uncaught", "nothing", "text", "status", "header", "large"])(
  "a function fails by %s → 503 without a detail, and the next request is answered",
  async (how) => {
    const { send } = await open({ methods: [methodOf("/things")] }, { invoke: (_, event) => invoke(event) });
    const { status, headers, body } = await send(`/things?do=${how}`);
    expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    expect(body).not.toContain("inside");
    expect(headers["x-amzn-requestid"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(await send("/things")).toMatchObject({ status: 200 });
  },
);

test("a promise never settles → its event ends at its time-out, and its thread answers others meanwhile and later", async () => {
  const { thread } = await invoke({});
  const message = "Task timed out after 0.50 seconds";
  const timedOut = expect(functions().invoke("brief", { do: "hang" })).rejects.toThrow(message);
  expect(await invoke({})).toMatchObject({ thread });
  await timedOut;
  expect(await invoke({})).toMatchObject({ thread });
});

test("a function blocks the event loop → all events of its thread fail, and the next has a new thread", async () => {
  const blockedMilliseconds = 1_000;
  const own = new Functions(served, [groupOf("own.mjs", source)], { logs: sink, blockedMilliseconds });
  onTestFinished(() => own.close());
  const run = (what: string) => own.invoke("sample", { do: what });
  await run("beat");
  const blocked = { status: "rejected", reason: { errorType: "Runtime.Blocked" } };
  expect(await Promise.allSettled([run("hang"), run("block")])).toMatchObject([blocked, blocked]);
  expect(await run("report")).toMatchObject({ count: 1 });
});

test("a function runs → it has its thread's variables alone, its own name and time, and a log", async () => {
  const { environment, context } = await invoke({});
  expect(environment).toEqual({ OWN: "1" });
  expect(context).toMatchObject({ functionName: "sample" });
  expect(context.remaining).toBeLessThanOrEqual(60_000);
  await expect.poll(() => logs.join("")).toContain(`{"handled":"${context.id}"}`);
});

test("an event comes with variables of its own → it runs in a new thread, where nothing has run before", async () => {
  await invoke({});
  const environment = { OWN: "changed" };
  expect(await invoke({}, { environment })).toMatchObject({ environment, count: 1 });
  expect(await invoke({})).toMatchObject({ environment: { OWN: "1" } });
});

test("an event has more than 6 MB → it is refused as too large, as API Gateway's 10 MB are not", async () => {
  const refused = { errorType: "RequestEntityTooLargeException" };
  await expect(invoke("x".repeat(6 * 1024 * 1024))).rejects.toMatchObject(refused);
});

test("functions are replaced while an event runs → it ends in the former code, and the next runs in the new", async () => {
  const { address, reached, letGo } = await openGate();
  const running = invoke({ do: "until", address });
  await reached;
  await functions().replace(served, [groupOf("second.mjs", source.replace("CODE", "second"))]);
  expect(await invoke({})).toMatchObject({ code: "second", count: 1 });
  await letGo();
  expect(await running).toMatchObject({ code: "first" });
});

test.each([
  ["a syntax error", "export const handler = async () => {", "Unexpected end of input"],
  ["no handler", "export const handlers = 1;", "handler is undefined or not exported"],
])(
  "functions are replaced by a file with %s → it says so, and the former code goes on",
  async (_, broken, why) => {
    const { code } = await invoke({});
    await expect(functions().replace(served, [groupOf("broken.mjs", broken)])).rejects.toThrow(why);
    expect(await invoke({})).toMatchObject({ code });
  },
);
