import { createServer } from "node:http";
import * as z from "zod";
import { type ListeningServer, listen } from "../local/servers/listening-server.ts";

/** Units of DynamoDB: a read unit is 4 KB strongly consistent or 8 KB eventually, a write unit is 1 KB. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

/** A DynamoDB endpoint that passes requests on to another and adds up the units that they take. */
export interface CountingStore extends ListeningServer {
  /** The units since the last call. */
  taken(): Units;
}

const reading = new Set(["GetItem", "BatchGetItem", "Query"]);
const writing = new Set(["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"]);

const capacity = z.object({ CapacityUnits: z.number() });
const consumed = z.object({
  ConsumedCapacity: z.union([capacity, z.array(capacity)]).optional(),
  UnprocessedKeys: z.record(z.string(), z.object({ Keys: z.array(z.unknown()) })).optional(),
});

/** The units of an answer. The embedded DynamoDB also charges one for each key that a batch leaves out, unread. */
function unitsOf(answer: unknown): number {
  const { ConsumedCapacity = [], UnprocessedKeys = {} } = consumed.parse(answer);
  const charged = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  return charged - Object.values(UnprocessedKeys).reduce((sum, { Keys }) => sum + Keys.length, 0);
}

/** @param endpoint of the store, which says how much each request takes. */
export async function openCountingStore(endpoint: string): Promise<CountingStore> {
  let units = { reads: 0, writes: 0 };
  const server = createServer(async (request, response) => {
    const target = String(request.headers["x-amz-target"]);
    const operation = target.slice(target.indexOf(".") + 1);
    const text = Buffer.concat(await request.toArray()).toString();
    const isCounted = reading.has(operation) || writing.has(operation);
    const { authorization = "", "content-type": type = "", "x-amz-date": date } = request.headers;
    const passedOn = await fetch(endpoint, {
      method: "POST",
      headers: { authorization, "content-type": type, "x-amz-date": String(date), "x-amz-target": target },
      body: isCounted ? JSON.stringify({ ...JSON.parse(text), ReturnConsumedCapacity: "TOTAL" }) : text,
    });
    const body = await passedOn.text();
    if (isCounted && passedOn.ok) {
      const sum = unitsOf(JSON.parse(body));
      if (reading.has(operation)) units.reads += sum;
      else units.writes += sum;
    }
    response
      .writeHead(passedOn.status, { "content-type": passedOn.headers.get("content-type") ?? type })
      .end(body);
  });
  const taken = () => {
    const before = units;
    units = { reads: 0, writes: 0 };
    return before;
  };
  return { ...(await listen(server, 0)), taken };
}
