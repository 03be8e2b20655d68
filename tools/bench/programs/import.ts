/** A process of its own for each measured import, so that its memory and its processor time are those of the import. */
import { createReadStream, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as eventLoop } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { parse } from "csv-parse";
import { rowsOf } from "../../../functions/population-density/import/rows/read-rows.ts";
import { withSortedDays } from "../../../functions/population-density/import/sort/sorted-days.ts";
import { useDatabaseCall } from "../../../shared/aws/database-client.ts";
import { withPatientCalls } from "../../../shared/aws/patient-calls.ts";
import { bytesOf } from "../../../shared/import/lines.ts";
import { Problems } from "../../../shared/import/problems.ts";
import { importDensity } from "../../import/density/import-density.ts";
import { startParserThreads } from "../../import/density/parser-threads.ts";
import { devices } from "../../import/devices.ts";
import { importFile } from "../../import/import-file.ts";

/** What is run; `path` is a file of rows or records. */
export type ImportRun =
  | { readonly kind: "sort"; readonly path: string; readonly threads: number }
  | { readonly kind: "density"; readonly path: string; readonly threads: number; readonly store: Store }
  | { readonly kind: "parse"; readonly path: string }
  | { readonly kind: "devices"; readonly path: string; readonly store: Store };

type Store = "none" | "embedded";

interface Command {
  readonly input: { readonly TableName?: string; readonly RequestItems?: Readonly<Record<string, unknown>> };
}

/**
 * Answers as an empty table does, and keeps nothing. It waits for a turn of the event loop, as until one ends V8 keeps
 * what is weakly referenced, such as the deadline of each call. The few calls about parts of days and the journal go to
 * the embedded store, because later ones depend on them.
 */
const noStore = {
  send: async (command: Command, options: object) => {
    if (command.input.TableName === "density-imports") return await embedded.send(command as never, options);
    await eventLoop();
    const tables = Object.keys(command.input.RequestItems ?? {});
    return { Responses: Object.fromEntries(tables.map((table) => [table, []])) };
  },
} as unknown as DynamoDBClient;
const embedded = new DynamoDBClient({});

/** @returns how many rows or records there were. */
async function measured(run: ImportRun): Promise<number> {
  if (run.kind === "parse") return await parsed(run.path);
  if (run.kind === "sort") return await sorted(run.path, run.threads);
  const importing = () => (run.kind === "devices" ? importFile(devices, run.path) : imported(run));
  if (run.store === "embedded") return await withPatientCalls(importing);
  useDatabaseCall((call) => call(noStore));
  return await importing();
}

async function imported({ path, threads }: { readonly path: string; readonly threads: number }) {
  const { rows } = await importDensity({
    files: [path],
    typical: false,
    precisions: [3, 4, 5, 6, 7],
    threshold: 10,
    threads,
  });
  return rows;
}

/** Reads and sorts rows until the first day could be given. */
async function sorted(path: string, threads: number): Promise<number> {
  const parser = threads > 0 ? startParserThreads(threads) : undefined;
  const problems = new Problems([path]);
  let rows = 0;
  async function* counted() {
    for await (const batch of rowsOf([{ format: "csv", text: () => bytesOf(path) }], { problems, parser })) {
      rows += batch.to - batch.from;
      yield batch;
    }
  }
  await withSortedDays(counted(), { problems }, async () => undefined);
  await parser?.close();
  return rows;
}

/** The size of the files of an import that is under way, in a folder that nothing else uses. */
function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const sizes = files.map(
    (file) => statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size,
  );
  return sizes.reduce<number>((sum, size = 0) => sum + size, 0);
}

/** Parses rows with the library that comes closest. */
async function parsed(path: string): Promise<number> {
  let rows = 0;
  for await (const _ of createReadStream(path).pipe(parse({ columns: true }))) rows++;
  return rows;
}

const run = JSON.parse(process.argv[2] ?? "") as ImportRun;
let temporaryBytes = 0;
setInterval(() => {
  temporaryBytes = Math.max(temporaryBytes, bytesIn(tmpdir()));
}, 1_000).unref();
const started = performance.now();
const before = process.cpuUsage();
const count = await measured(run);
const { user, system } = process.cpuUsage(before);
process.send?.({
  count,
  temporaryBytes,
  seconds: (performance.now() - started) / 1_000,
  cpuSeconds: (user + system) / 1_000_000,
  // Kilobytes on every platform.
  bytes: process.resourceUsage().maxRSS * 1_024,
});
