/**
 * What the types refuse. Each expectation is one mistake that somebody who adds an endpoint can make; the word in
 * backticks is what the compiler's message names. `npm run check:types` compiles this file, in which an expectation
 * without a mistake is an error; nothing runs it.
 */
import * as z from "zod/mini";
import { retrieveIdentifier } from "../../functions/device-identifier/contract.ts";
import { publishKeys } from "../../functions/keys/contract.ts";
import { type FunctionRecord, functionRecords } from "../../infra/functions.ts";
import { configuration } from "../../infra/variables.ts";
import { area } from "../../shared/area.ts";
import { log } from "../../shared/aws/log.ts";
import { writeMetrics } from "../../shared/aws/metrics.ts";
import { endpoint } from "../../shared/endpoint.ts";
import { setting } from "../../shared/environment.ts";
import { serve } from "../../shared/http/serve.ts";
import { table } from "../../shared/table.ts";

/** Takes a value of a type and does nothing with it. */
function accept<Type>(_value: Type): void {}

const listNotes = endpoint({
  id: "notes/list",
  operationId: "listNotes",
  summary: "List notes",
  description: "Notes of a folder.",
  method: "POST",
  path: "/notes/{folder}/list",
  aliases: ["/v1/notes/{folder}/list"],
  scope: "qos-profiles:read",
  parameters: { folder: z.string() },
  body: z.object({ text: z.optional(z.string()) }),
  responses: { 200: z.array(z.object({ text: z.string() })), 202: z.object({ id: z.string() }) },
  errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
});

const readStatus = endpoint({
  id: "notes/status",
  operationId: "readStatus",
  summary: "Read the status",
  description: "The status of the notes.",
  method: "GET",
  path: "/notes/status",
  aliases: [],
  scope: null,
  publicBecause: "It is a test.",
  responses: { 200: z.object({ ready: z.boolean() }) },
  errors: ["INVALID_ARGUMENT"],
});

// Refusals.

serve(listNotes, async ({ refuse }) => {
  // @ts-expect-error `PERMISSION_DENIED` is in the catalogue but not declared by the endpoint
  throw refuse("PERMISSION_DENIED");
});

serve(listNotes, async ({ refuse }) => {
  // @ts-expect-error `INTERNAL` is for failures, which are thrown as plain errors
  throw refuse("INTERNAL");
});

endpoint({
  ...readStatus,
  // @ts-expect-error `NO_SUCH_CODE` is not in the catalogue
  errors: ["NO_SUCH_CODE"],
});

// Answers.

serve(listNotes, async ({ reply }) => {
  // @ts-expect-error `string` is the type in the response's schema
  return reply(200, [{ text: 1 }]);
});

serve(listNotes, async ({ reply }) => {
  // @ts-expect-error `id` belongs to the answer of the other status
  return reply(202, [{ text: "a" }]);
});

serve(listNotes, async ({ reply }) => {
  // @ts-expect-error `201` is not declared
  return reply(201, { id: "a" });
});

// @ts-expect-error `Reply` is what a handler returns, never an answer made by hand
serve(readStatus, async () => ({ statusCode: 200, body: "{}" }));

const moveNote = endpoint({
  ...listNotes,
  id: "notes/move",
  query: { page: z.string() },
  replyHeaders: { 202: { location: "Where it is now." } },
});

serve(moveNote, async ({ reply }) => {
  // @ts-expect-error `3 arguments` are expected: the header is declared
  return reply(202, { id: "a" });
});

serve(moveNote, async ({ query, reply }) => {
  // @ts-expect-error `folder` is not a query parameter
  return reply(200, [{ text: query.folder }]);
});

// Requests.

serve(readStatus, async ({ body, reply }) => {
  // @ts-expect-error `body` is undefined: the endpoint declares none
  return reply(200, { ready: body.ready });
});

serve(readStatus, async ({ caller, reply }) => {
  // @ts-expect-error `caller` is undefined: the endpoint needs no token
  return reply(200, { ready: caller.client !== "" });
});

serve(readStatus, async ({ parameters, reply }) => {
  // @ts-expect-error `parameters` is undefined: the path has none
  return reply(200, { ready: parameters.folder !== "" });
});

serve(listNotes, async ({ body, reply }) => {
  // @ts-expect-error `undefined` must be dealt with: the member is optional
  return reply(200, [{ text: body.text.trim() }]);
});

// Paths.

// @ts-expect-error `parameters` need a schema for each name in the path
endpoint({ ...readStatus, path: "/notes/{folder}/status" });

endpoint({
  ...listNotes,
  // @ts-expect-error `folder` has no schema
  parameters: {},
});

endpoint({
  ...readStatus,
  // @ts-expect-error `never`: the path has no parameters
  parameters: { folder: z.string() },
});

endpoint({
  ...listNotes,
  // @ts-expect-error `never`: the alias names another parameter
  aliases: ["/v1/notes/{name}/list"],
});

endpoint({
  ...readStatus,
  // @ts-expect-error `readStatus` is no area and operation
  id: "readStatus",
});

endpoint({
  ...readStatus,
  // @ts-expect-error `PUT` is a method that no part of the service was made for
  method: "PUT",
});

endpoint({
  ...readStatus,
  // @ts-expect-error `notes` is no scope
  scope: "notes",
});

const { publicBecause: _, ...unexplained } = readStatus;
// @ts-expect-error `publicBecause` is missing: everybody may call it
endpoint(unexplained);

// @ts-expect-error `publicBecause` is for what needs no token
endpoint({
  ...listNotes,
  publicBecause: "It is a test.",
});

// Rights.

accept<FunctionRecord>({
  tables: {
    // @ts-expect-error `notes` is not a described table
    notes: ["GetItem"],
  },
});

accept<FunctionRecord>({
  tables: {
    // @ts-expect-error `Scan` is not to be had
    quotas: ["Scan"],
  },
});

accept<FunctionRecord>({
  // @ts-expect-error `NOTES_LIMIT` is not a described variable
  variables: ["NOTES_LIMIT"],
});

const { "keys/publish": publish, ...others } = functionRecords;
accept(publish);
// @ts-expect-error `keys/publish` has no line
accept<typeof functionRecords>(others);

// What is read by name.

// @ts-expect-error `NOTES_LIMIT` is not a described variable
setting(configuration.NOTES_LIMIT);

// @ts-expect-error `schema` is missing: items are parsed when they are read
table({ name: "notes", partitionKey: "folder" });

area({
  name: "notes",
  title: "Notes",
  about: "Notes.",
  // @ts-expect-error `notes/` is how the ids of the area's endpoints begin
  endpoints: [publishKeys],
  scopes: {},
  tables: [],
});

area({
  name: "device-identifier",
  title: "Devices",
  about: "Devices.",
  // @ts-expect-error `device-identifier:retrieve-identifier` is not among the scopes of the area
  endpoints: [retrieveIdentifier],
  scopes: { "device-identifier:other": "Another thing." },
  tables: [],
});

// @ts-expect-error `phoneNumber` is never logged
log("REQUEST", { phoneNumber: "+34600000001" });

// @ts-expect-error an error is counted by its `code`
writeMetrics([{ metric: "Errors" }]);

// @ts-expect-error no metric is split by a `phoneNumber`
writeMetrics([{ metric: "Requests", operation: "listNotes", phoneNumber: "+34600000001" }]);
