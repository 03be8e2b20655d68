import { createServer, type IncomingHttpHeaders } from "node:http";
import * as z from "zod";
import { type ListeningServer, listen } from "../local/servers/listening-server.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Units of DynamoDB: a read unit is 4 KB strongly consistent or 8 KB eventually, a write unit is 1 KB. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

/**
 * A DynamoDB endpoint that passes calls on to another, adds up the units that they take, also those of writes whose
 * condition fails, and limits those of a table.
 */
export interface MeteredDatabase extends ListeningServer {
  /** The units since the last call. */
  taken(): Units;
  /** From now on, a table and its indexes give so many units a second, or any number. */
  limit(table: string, units?: Units): void;
  /** The calls that were refused, or executed in part, so far. */
  throttledCalls(): number;
}

const kinds: Readonly<Record<string, keyof Units>> = {
  GetItem: "reads",
  BatchGetItem: "reads",
  Query: "reads",
  PutItem: "writes",
  UpdateItem: "writes",
  DeleteItem: "writes",
  BatchWriteItem: "writes",
  // The one statement that the service makes is an INSERT.
  ExecuteStatement: "writes",
  BatchExecuteStatement: "writes",
};

/** The least that a call takes, or a key of a batch. */
const least: Units = { reads: 0.5, writes: 1 };

const keysOfTable = z.looseObject({ Keys: z.array(z.unknown()) });
const statement = z.looseObject({ Statement: z.string() });
const input = z.looseObject({
  TableName: z.string().optional(),
  Statement: z.string().optional(),
  Statements: z.array(statement).optional(),
  RequestItems: z.record(z.string(), z.union([keysOfTable, z.array(z.unknown())])).optional(),
});
type Input = z.output<typeof input>;
type Batch = NonNullable<Input["RequestItems"]>;

const capacity = z.object({ TableName: z.string(), CapacityUnits: z.number() });
const output = z.looseObject({
  ConsumedCapacity: z.union([z.array(capacity), capacity.transform((one) => [one])]).default([]),
  UnprocessedKeys: z.record(z.string(), keysOfTable).optional(),
});

/** What an on-demand table answers that scales too slowly. */
const refusal = JSON.stringify({
  __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException",
  message:
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table " +
    "or index so please try again shortly. If exceptions persist, check if you have a hot key",
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * @param endpoint of the database, which says how much each call takes.
 * @param clock milliseconds of a monotonic one.
 */
export async function openMeteredDatabase(
  endpoint: string,
  clock = () => performance.now(),
): Promise<MeteredDatabase> {
  let total = { reads: 0, writes: 0 };
  let throttledCalls = 0;
  const buckets = new Map<string, Readonly<Record<keyof Units, TokenBucket>>>();
  const takes = (table: string, kind: keyof Units) =>
    buckets.get(table)?.[kind].take(clock(), least[kind]) ?? true;

  const meter = async (kind: keyof Units, text: string, send: Send): Promise<Answer> => {
    const asked = input.parse(JSON.parse(text));
    const { now, later } = divided(asked, (table) => takes(table, kind));
    if (later !== undefined) throttledCalls++;
    if (now === undefined) return { status: 400, body: refusal };
    const answer = await send(JSON.stringify({ ...now, ReturnConsumedCapacity: "TOTAL" }));
    const said = output.parse(JSON.parse(answer.body));
    for (const { table, units, calls } of chargedIn(now, said)) {
      total = { ...total, [kind]: total[kind] + units };
      buckets.get(table)?.[kind].charge(units - calls * least[kind]);
    }
    const { ConsumedCapacity: _, ...result } = said;
    if (answer.status !== 200 || later === undefined) return { ...answer, body: JSON.stringify(result) };
    const partial =
      asked.Statements === undefined ? withUnprocessed(result, kind, later) : withRefused(result, asked);
    return { ...answer, body: JSON.stringify(partial) };
  };

  const server = createServer(async (request, response) => {
    const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
    const text = Buffer.concat(await request.toArray()).toString();
    const kind = kinds[operation];
    const send: Send = (body) => forward(endpoint, request.headers, body);
    try {
      const { status, body } = await (kind === undefined ? send(text) : meter(kind, text, send));
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(body);
    } catch {
      // The database was closed before its last client.
      response.destroy();
    }
  });
  return {
    ...(await listen(server, 0)),
    taken: () => {
      const before = total;
      total = { reads: 0, writes: 0 };
      return before;
    },
    limit: (table, units) => {
      if (units === undefined) return void buckets.delete(table);
      const bucket = (rate: number) => new TokenBucket({ rate, burst: rate }, clock());
      buckets.set(table, { reads: bucket(units.reads), writes: bucket(units.writes) });
    },
    throttledCalls: () => throttledCalls,
  };
}

type Send = (body: string) => Promise<Answer>;

async function forward(endpoint: string, headers: IncomingHttpHeaders, body: string): Promise<Answer> {
  const sent = ["authorization", "content-type", "x-amz-date", "x-amz-target"].map(
    (name) => [name, String(headers[name] ?? "")] as const,
  );
  const answer = await fetch(endpoint, { method: "POST", headers: Object.fromEntries(sent), body });
  return { status: answer.status, body: await answer.text() };
}

/** What of a call is executed now, and the keys or items of a batch that are not. */
function divided(
  asked: Input,
  takes: (table: string) => boolean,
): { readonly now: Input | undefined; readonly later: Batch | undefined } {
  const { RequestItems, Statements } = asked;
  if (Statements !== undefined) {
    const refused = Statements.findIndex(({ Statement }) => !takes(tableOf(Statement)));
    const count = refused === -1 ? Statements.length : refused;
    const now = { ...asked, Statements: Statements.slice(0, count) };
    return { now: count === 0 ? undefined : now, later: count === Statements.length ? undefined : {} };
  }
  if (RequestItems === undefined) {
    const TableName = asked.TableName ?? tableOf(asked.Statement);
    const isTaken = TableName === "" || takes(TableName);
    return { now: isTaken ? asked : undefined, later: isTaken ? undefined : {} };
  }
  const [now, later]: [Batch, Batch] = [{}, {}];
  for (const [table, wanted] of Object.entries(RequestItems)) {
    const all = membersOf(wanted);
    const refused = all.findIndex(() => !takes(table));
    const count = refused === -1 ? all.length : refused;
    const part = (members: unknown[]) => (Array.isArray(wanted) ? members : { ...wanted, Keys: members });
    if (count > 0) now[table] = part(all.slice(0, count));
    if (count < all.length) later[table] = part(all.slice(count));
  }
  return {
    now: Object.keys(now).length === 0 ? undefined : { ...asked, RequestItems: now },
    later: Object.keys(later).length === 0 ? undefined : later,
  };
}

/** The table of a statement; empty without a statement. */
function tableOf(statement = ""): string {
  return /"([^"]+)"/.exec(statement)?.[1] ?? "";
}

function membersOf(wanted: Batch[string] | undefined): readonly unknown[] {
  if (wanted === undefined) return [];
  return Array.isArray(wanted) ? wanted : wanted.Keys;
}

/**
 * The units of each table, and the calls or keys that took them. The embedded DynamoDB also charges a unit for each key
 * that a batch leaves out, unread.
 */
function chargedIn(
  { RequestItems }: Input,
  { ConsumedCapacity, UnprocessedKeys = {} }: z.output<typeof output>,
) {
  return ConsumedCapacity.map(({ TableName: table, CapacityUnits }) => ({
    table,
    units: CapacityUnits - (UnprocessedKeys[table]?.Keys.length ?? 0),
    calls: RequestItems === undefined ? 1 : membersOf(RequestItems[table]).length,
  }));
}

/** The result of a batch, with what was not executed because of the limit. */
function withUnprocessed(result: Readonly<Record<string, unknown>>, kind: keyof Units, later: Batch) {
  const name = kind === "reads" ? "UnprocessedKeys" : "UnprocessedItems";
  const before = z.record(z.string(), z.union([keysOfTable, z.array(z.unknown())])).parse(result[name] ?? {});
  const all = Object.entries(later).map(([table, left]) => {
    const members = [...membersOf(before[table]), ...membersOf(left)];
    return [table, Array.isArray(left) ? members : { ...left, Keys: members }];
  });
  return { ...result, [name]: { ...before, ...Object.fromEntries(all) } };
}

/** The result of a batch of statements, with those that were not executed because of the limit. */
function withRefused(
  { Responses, ...result }: Readonly<Record<string, unknown>>,
  { Statements = [] }: Input,
) {
  const executed = z.array(z.unknown()).parse(Responses);
  const refused = { Error: { Code: "ThrottlingError", Message: "Throughput exceeds the current capacity" } };
  return { ...result, Responses: Statements.map((_, index) => executed[index] ?? refused) };
}
