/** A process of its own for each measured import, so that its memory and its processor time are those of the import. */
import { createReadStream } from "node:fs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { parse } from "csv-parse";
import { useCall } from "../../../shared/aws/database-client.ts";
import { withPatientCalls } from "../../../shared/aws/patient-calls.ts";
import { importDensity } from "../../import/density/import-density.ts";
import { countedPeople, writeTexts } from "../import-data.ts";

/** What is run; `path` is a file of rows. */
export type ImportRun =
  | { readonly kind: "generate"; readonly path: string; readonly tiles: number }
  | { readonly kind: "import"; readonly path: string; readonly isStored: boolean }
  | { readonly kind: "parse"; readonly path: string };

interface Command {
  readonly input: { readonly TableName?: string; readonly RequestItems?: Readonly<Record<string, unknown>> };
}

/**
 * Answers every call as an empty table does, and keeps nothing; but for the parts of days and the journal, a few calls of
 * which later ones depend, which are the embedded store's.
 */
const noStore = {
  send: async (command: Command, options: object) => {
    if (command.input.TableName === "density-imports") return await embedded.send(command as never, options);
    const tables = Object.keys(command.input.RequestItems ?? {});
    return { Responses: Object.fromEntries(tables.map((table) => [table, []])) };
  },
} as unknown as DynamoDBClient;
const embedded = new DynamoDBClient({});

/** @returns how many rows there were. */
async function measured(run: Exclude<ImportRun, { kind: "generate" }>): Promise<number> {
  if (run.kind === "parse") return await parsed(run.path);
  if (run.isStored) return await withPatientCalls(() => imported(run.path));
  useCall((call) => call(noStore));
  return await imported(run.path);
}

async function imported(path: string): Promise<number> {
  const settings = { typical: false, precisions: [3, 4, 5, 6, 7], threshold: 10, threads: 2 };
  const { rows } = await importDensity({ files: [path], ...settings });
  return rows;
}

/** Parses rows with the library that comes closest. */
async function parsed(path: string): Promise<number> {
  let rows = 0;
  for await (const _ of createReadStream(path).pipe(parse({ columns: true }))) rows++;
  return rows;
}

const run = JSON.parse(process.argv[2] ?? "") as ImportRun;
if (run.kind === "generate") await writeTexts(run.path, countedPeople(run.tiles));
else {
  const before = process.cpuUsage();
  const rows = await measured(run);
  const { user, system } = process.cpuUsage(before);
  process.send?.({
    rows,
    cpuSeconds: (user + system) / 1_000_000,
    // Kilobytes on every platform.
    bytes: process.resourceUsage().maxRSS * 1_024,
  });
}
