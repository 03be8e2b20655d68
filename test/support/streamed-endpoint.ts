/** A function that streams what its event asks for, to be bundled as the service's functions are. */
import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { serveStreamed } from "../../shared/http/serve-streamed.ts";

const notesRequest = z.object({ chunks: z.number(), failingAt: z.optional(z.number()) });
type NotesRequest = z.output<typeof notesRequest>;

const streamed = endpoint({
  id: "notes/list",
  operationId: "listNotes",
  summary: "List notes",
  description: "Notes.",
  method: "POST",
  path: "/notes/list",
  aliases: [],
  scope: null,
  publicBecause: "It is a test.",
  body: notesRequest,
  responses: { 200: z.array(z.string()) },
  streamed: true,
  errors: [],
});

export const handler = serveStreamed(streamed, async ({ body, stream }) => stream(200, notes(body)));

/** JSON text in chunks of 64 KiB, of which one throws if that is asked for. */
async function* notes({ chunks, failingAt }: NotesRequest): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < chunks; index++) {
    if (index === failingAt) throw new RangeError("a phone number");
    yield Buffer.from(`${index === 0 ? "[" : ","}"${"x".repeat(65_533)}"`);
  }
  yield Buffer.from("]");
}
