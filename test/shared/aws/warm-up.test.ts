import type { RequestListener } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FunctionId } from "../../../infra/functions.ts";
import { functionRecords } from "../../../infra/functions.ts";
import { localLogStream } from "../../../shared/environment.ts";
import { serverOfTest } from "../../support/signed.ts";

interface Call {
  readonly target: string;
  readonly input: { readonly TableName: string; readonly Key: unknown };
}

/** Ends the second that the read may take. */
let limit: AbortController;

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "a secret of nobody");
  vi.stubEnv("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001");
  vi.stubEnv("AWS_LAMBDA_LOG_STREAM_NAME", "2026/11/27/[$LATEST]0123456789abcdef");
  limit = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => limit.signal);
  // The environment of a function has the tables that it may use.
  for (const name of Object.keys(process.env)) if (name.startsWith("TABLE_")) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const missing: RequestListener = (_, response) => response.end("{}");

/** Loads a function, and returns the calls that it makes of DynamoDB. */
async function loaded(id: FunctionId, load: () => Promise<unknown>, answer = missing): Promise<Call[]> {
  for (const name of Object.keys(functionRecords[id].tables ?? {}))
    vi.stubEnv(`TABLE_${name.toUpperCase().replaceAll("-", "_")}`, name);
  const calls: Call[] = [];
  const server = await serverOfTest(async (request, response) => {
    const input = JSON.parse(Buffer.concat(await request.toArray()).toString());
    calls.push({ target: String(request.headers["x-amz-target"]).replace(/^.*\./, ""), input });
    answer(request, response);
  });
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
  vi.resetModules();
  await load();
  return calls;
}

const loadQosProfile = () => import("../../../functions/qos-profiles/get-by-name.ts");

test.each([
  ["qos-profiles/get-by-name", loadQosProfile, "quotas", { caller: { S: "-" } }],
  [
    "profile/authenticate",
    () => import("../../../functions/profile/authenticate.ts"),
    "profiles",
    { address: { S: "-" } },
  ],
  [
    "authorizer/authorize",
    () => import("../../../functions/authorizer/authorize.ts"),
    "pseudonym-keys",
    { use: { S: "token-subjects" } },
  ],
] as const)(
  "%s reads one item while it is loaded on Lambda, which it may read",
  async (id, load, table, key) => {
    const [call, ...others] = await loaded(id, load);

    expect(others).toEqual([]);
    expect(call).toMatchObject({ target: "GetItem", input: { TableName: table, Key: key } });
    const { tables = {}, partitions = {} } = functionRecords[id];
    expect(tables[table]).toContain("GetItem");
    const [partition] = Object.values(key).map(({ S }) => S);
    expect(partitions[table] ?? [partition]).toContain(partition);
  },
);

test("a function without a table to read calls nothing while it is loaded", async () => {
  expect(await loaded("openapi/catalog", () => import("../../../functions/openapi/catalog.ts"))).toEqual([]);
});

test("a function of a local run reads nothing while it is loaded", async () => {
  vi.stubEnv("AWS_LAMBDA_LOG_STREAM_NAME", localLogStream);

  expect(await loaded("qos-profiles/get-by-name", loadQosProfile)).toEqual([]);
});

test.each<[string, number, RequestListener]>([
  ["is not answered in time", 1, () => limit.abort()],
  ["is refused", 1, (_, response) => response.writeHead(400).end('{"__type":"AccessDeniedException"}')],
  ["is reset each time", 3, (request) => void request.socket.resetAndDestroy()],
])("a function is loaded when its read %s, after %i calls", async (_, calls, answer) => {
  expect(await loaded("qos-profiles/get-by-name", loadQosProfile, answer)).toHaveLength(calls);
  expect(AbortSignal.timeout).toHaveBeenCalledWith(1_000);
});
