import { SingleBar } from "cli-progress";
import { type Command, InvalidArgumentError } from "commander";
import type * as z from "zod";
import { provenance } from "../../functions/population-density/tiles/data-set.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { checkConnection } from "../../shared/aws/connection.ts";
import { withPatientCalls } from "../../shared/aws/patient-calls.ts";
import { importKinds } from "../import/data-folder.ts";
import { configuredDensities } from "../import/density/configured.ts";
import { type DensityImport, type DensityImported, importDensity } from "../import/density/import-density.ts";
import { importFromBucket, isInBucket } from "../import/density/import-from-bucket.ts";
import { type ImportKind, importFile } from "../import/import-file.ts";
import type { Print } from "./print.ts";
import { outputsOption, useDensityImport, useStack } from "./stack.ts";

/** `ncs import`: files of records and of counted people into the tables of a stack. */
export function addImport(importing: Command, print: Print): void {
  for (const [name, kind] of Object.entries(importKinds)) {
    importing
      .command(`${name} <file>`)
      .description(`a JSON array like tools/demo/${kind.file}, or .ndjson with a record in each line`)
      .requiredOption(...outputsOption)
      .action(async (file: string, { outputs }: { outputs: string }) => {
        await useStack(outputs);
        const written = await withPatientCalls(() => importFile(kind as ImportKind<z.ZodType>, file));
        print(`${written} records imported`);
      });
  }

  importing
    .command("density <files...>")
    .description(
      "people counted by cell and hour: .csv with geohash,startTime,people[,minPeople,maxPeople] or .ndjson; or one " +
        "s3://bucket/prefix in the bucket of a stack with -c densityImport=true",
    )
    .requiredOption(...outputsOption)
    .requiredOption(
      "--coverage <area.geojson>",
      "the covered area; or `rows`: the cells that any row names, for files with all cells, also the empty ones",
    )
    .option("--market-share <share>", "the share of all people that is counted, such as 0.31", shareOf)
    .option("--typical", "store the dates as typical weekdays")
    .option(
      "--recounted",
      "with --typical: people were counted again, so coverage, precision and threshold may differ from before",
    )
    .option("--source <text>", "who counted: callers read it in the capabilities", nameOf)
    .option("--licence <text>", "with --source: the licence of the numbers, such as CC-BY-4.0", nameOf)
    .action(async (files: string[], options: DensityOptions, command: Command) => {
      if (options.recounted === true && options.typical !== true) {
        command.error("error: --recounted needs --typical: an observed day is counted once");
      }
      const { source: counter, licence } = options;
      if (licence !== undefined && counter === undefined) {
        command.error("error: --licence needs --source: it says whose numbers are licensed");
      }
      const wanted = {
        provenance: counter === undefined ? undefined : { source: counter, licence },
        coverage: options.coverage === rowsAlone ? undefined : options.coverage,
        marketShare: options.marketShare,
        typical: options.typical === true,
        isRecounted: options.recounted === true,
      };
      const [source = "", ...others] = files;
      if (files.some(isInBucket) && others.length > 0) {
        command.error("error: an import from a bucket is of one s3://bucket/prefix and nothing else");
      }
      const { rows, items, changed } = isInBucket(source)
        ? await importDistributed(source, wanted, options.outputs)
        : await importHere(files, wanted, options.outputs);
      print(`${rows} rows, ${changed} of ${items} items changed`);
    });
}

type WantedDensities = Pick<
  DensityImport,
  "coverage" | "isRecounted" | "marketShare" | "provenance" | "typical"
>;

async function importHere(
  files: readonly string[],
  wanted: WantedDensities,
  outputs: string,
): Promise<DensityImported> {
  await useStack(outputs);
  await checkConnection(densities);
  return await withPatientCalls(() =>
    withProgress((show) =>
      importDensity({
        files,
        ...wanted,
        ...configuredDensities(),
        onProgress: ({ bytes, allBytes, date }) =>
          show({ done: bytes, all: allBytes, stage: date === undefined ? "read" : `read, storing ${date}` }),
      }),
    ),
  );
}

async function importDistributed(
  source: string,
  { isRecounted = false, ...wanted }: WantedDensities,
  outputs: string,
): Promise<DensityImported> {
  const stateMachineArn = await useDensityImport(outputs);
  return await withProgress((show) =>
    importFromBucket({
      source,
      ...wanted,
      isRecounted,
      stateMachineArn,
      onProgress: ({ map, ...counts }) => show({ ...counts, stage: stagesOfMaps[map] ?? map }),
    }),
  );
}

const stagesOfMaps: Readonly<Record<string, string>> = {
  ReadFiles: "of the files read",
  CheckPrefixes: "of the prefixes checked",
  StorePrefixes: "of the prefixes stored",
};

/** In place of a file: the coverage is the cells that rows name. */
const rowsAlone = "rows";

interface DensityOptions {
  readonly outputs: string;
  readonly coverage: string;
  readonly marketShare?: number;
  readonly typical?: boolean;
  readonly recounted?: boolean;
  readonly source?: string;
  readonly licence?: string;
}

function shareOf(text: string): number {
  const share = /^(?:0?\.\d+|1(?:\.0+)?)$/.test(text) ? Number(text) : 0;
  if (share > 0) return share;
  throw new InvalidArgumentError("It must be above 0 and at most 1.");
}

function nameOf(text: string): string {
  if (provenance.shape.source.safeParse(text).success) return text;
  throw new InvalidArgumentError("It must have 1 to 200 characters.");
}

interface Progress {
  readonly done: number;
  readonly all: number;
  readonly stage: string;
}

/** Shows on a terminal how far it is. */
async function withProgress<Result>(
  run: (show: (progress: Progress) => void) => Promise<Result>,
): Promise<Result> {
  if (!process.stderr.isTTY) return await run(() => undefined);
  const bar = new SingleBar({
    format: "{bar} {percentage} % {stage}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(1, 0, { stage: "read" });
  try {
    return await run(({ done, all, stage }) => {
      bar.setTotal(all);
      bar.update(done, { stage });
    });
  } finally {
    bar.stop();
  }
}
