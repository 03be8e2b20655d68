import { readdirSync } from "node:fs";
import * as z from "zod";
import type { FunctionId } from "../../infra/functions.ts";
import { readEventFile } from "../../tools/event-files.ts";

const proxyEvent = z.object({
  httpMethod: z.string(),
  path: z.string(),
  body: z.string().nullable(),
  isBase64Encoded: z.boolean(),
});

/** A request that is answered with success, as its event in `events/` says. */
export interface GoodRequest {
  readonly functionId: FunctionId;
  readonly status: number;
  readonly method: string;
  /** The endpoint's path or its alias. */
  readonly path: string;
  /** Its times are about now. */
  readonly body: string | undefined;
}

/** Every request of `events/` whose name promises a success of the demo data, without its token. */
export async function goodRequests(): Promise<readonly GoodRequest[]> {
  const files = readdirSync("events", { recursive: true, encoding: "utf8" })
    .filter((file) => /\.2\d\d-[^.]+\.json$/.test(file))
    .map((file) => readEventFile(`events/${file}`));
  return (await Promise.all(files)).map(({ functionId, status, event }) => {
    const { httpMethod: method, path, body, isBase64Encoded } = proxyEvent.parse(event);
    const text =
      body === null ? undefined : Buffer.from(body, isBase64Encoded ? "base64" : "utf8").toString();
    return { functionId, status, method, path, body: text };
  });
}
