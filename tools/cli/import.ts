import { type Command, InvalidArgumentError, Option } from "commander";
import type * as z from "zod";
import { type RowFormat, rowFormats } from "../../functions/population-density/import/rows/row-format.ts";
import { provenance } from "../../functions/population-density/tiles/data-set.ts";
import { type FindingCode, findingCodes } from "../../functions/population-density/tiles/findings.ts";
import { isTimeZone } from "../../functions/population-density/tiles/typical-calendar.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { plural } from "../../shared/plural.ts";
import { type RecordKind, recordFiles } from "../import/data-files.ts";
import type { DensityImport, DensityImported } from "../import/density/import-density.ts";
import type { ImportKind } from "../import/import-file.ts";
import { addImportPopulation } from "./import-population.ts";
import { type StackOptions, wholeNumber, withStackOptions } from "./options.ts";
import { changedItems, type Print } from "./print.ts";
import { storedInPart, withProgress } from "./progress.ts";
import { addReplay } from "./replay.ts";
import { connectStack, printWhereToLook, usePublishingStack, useStack } from "./stack.ts";

const dryRunOption = [
  "--dry-run",
  "check everything, also against what is stored, and write nothing",
] as const;

/** `ncs import`: files of records and of counted people into the tables of a stack. */
export function addImport(importing: Command, print: Print): void {
  for (const [name, file] of Object.entries(recordFiles)) {
    const command = importing
      .command(`${name} <file>`)
      .description(`a JSON array like tools/demo/${file}, or .ndjson with a record in each line`);
    withStackOptions(command).option(...dryRunOption);
    if (name === "profiles" || name === "clients") command.option(...demoOption);
    command.action(async (path: string, options: RecordOptions) => {
      const stack = await useStack(options);
      const count = await importRecords(name as RecordKind, path, options, demoRefusal(stack, options));
      print(
        options.dryRun === true
          ? `${count} ${plural(count, "record")} could be imported into ${stack}; nothing was written`
          : `${count} ${plural(count, "record")} imported into ${stack}`,
      );
    });
  }
  addImportSandbox(importing, print);
  addImportDensity(importing, print);
  addImportPopulation(importing, nameOf, print);
  addReplay(importing, print);
}

interface RecordOptions extends StackOptions {
  readonly dryRun?: boolean;
  readonly demo?: boolean;
}

const demoOption = [
  "--demo",
  "into a dev stage, also what has a password or a key of the demo data",
] as const;

/** Why a stage takes no record with a credential of the demo data; `undefined` if it does. */
function demoRefusal(stack: string, { demo = false }: RecordOptions): string | undefined {
  const known = "is the demo's, and everybody knows it";
  if (stack === stackNames.prod) return `${known}: ${stack} has subscribers`;
  return stack === stackNames.dev && !demo ? `${known}: ${stack} takes it with --demo` : undefined;
}

async function importRecords(
  name: RecordKind,
  path: string,
  { dryRun: isDryRun = false }: RecordOptions,
  refusal: string | undefined,
): Promise<number> {
  const [{ importKinds }, { importFile }, { withoutDemo }, { withPatientCalls }] = await Promise.all([
    import("../import/data-folder.ts"),
    import("../import/import-file.ts"),
    import("../import/demo-credentials.ts"),
    import("../../shared/aws/patient-calls.ts"),
  ]);
  const any = importKinds[name] as ImportKind<z.ZodType>;
  const kind = refusal === undefined ? any : withoutDemo(any, refusal);
  return await withPatientCalls(() =>
    withProgress((show) =>
      importFile(kind, path, {
        isDryRun,
        onProgress: ({ records, all, isWriting }) =>
          show({
            done: records,
            all,
            stage: isWriting ? "of the records written" : "records checked",
            stored: isWriting ? "some of the records were stored: import the file again" : undefined,
          }),
      }),
    ),
  );
}

function addImportSandbox(importing: Command, print: Print): void {
  const command = importing
    .command("sandbox")
    .description("the numbers of docs/sandbox.md, which belong to nobody, into a dev stage or `npm start`");
  withStackOptions(command)
    .option(
      "--city",
      "also the densities of the demo city, replacing the typical weekdays stored there, and their time zone",
    )
    .action(async ({ city = false, ...options }: StackOptions & { readonly city?: boolean }) => {
      const stack = city ? await usePublishingStack(options) : await useStack(options);
      if (stack === stackNames.prod) throw new Error(`${stack} is no sandbox: it has subscribers`);
      const [{ importSandbox }, { importDemoCity }, { withPatientCalls }] = await Promise.all([
        import("../import/sandbox.ts"),
        import("../import/density/density-folder.ts"),
        import("../../shared/aws/patient-calls.ts"),
      ]);
      const { extent, count } = await withPatientCalls(async () => ({
        extent: city ? await importDemoCity() : undefined,
        count: await importSandbox(),
      }));
      print(`${count} ${plural(count, "record")} imported into ${stack}`);
      await printWhereToLook(options, extent, print);
    });
}

function addImportDensity(importing: Command, print: Print): void {
  const command = importing
    .command("density <files...>")
    .description(
      "people counted by cell and hour: .csv with geohash,startTime,people[,minPeople,maxPeople] or .ndjson, also .gz; " +
        "`-` for standard input",
    );
  withStackOptions(command)
    .requiredOption(
      "--coverage <area.geojson>",
      "the covered area; or `rows`: the cells that any row names, for files with all cells, also the empty ones",
    )
    .addOption(
      new Option("--format <format>", "what the files are, whatever their names say").choices(rowFormats),
    )
    .option(
      "--rows <number>",
      "how many rows there are: needed for a pipe that is not packed, as one that breaks looks like one that ends",
      wholeNumber(1, 999_999_999_999),
    )
    .option("--market-share <share>", "the share of all people that is counted, such as 0.31", shareOf)
    .option("--typical", "store the dates as typical weekdays")
    .option(
      "--recounted",
      "with --typical: people were counted again, so coverage and precision may differ from before",
    )
    .option(
      "--time-zone <name>",
      "the time zone that typical weekdays follow from now on, such as Europe/Madrid; UTC unless ever set",
      timeZoneOf,
    )
    .option(
      "--replace-time-zone",
      "with --time-zone: it may be another one than that of what is stored, which then follows it too",
    )
    .option(
      "--holidays <file>",
      "the local dates that count as Sundays from now on: .json with a list, or .csv with a column `date`",
    )
    .option(
      "--source <text>",
      "who counted: callers read it in the capabilities; of an `npm start`, the file's name unless it is given",
      nameOf,
    )
    .option("--licence <text>", "with --source: the licence of the numbers, such as CC-BY-4.0", nameOf)
    .option(
      "--accept <code>",
      "import numbers although findings of this code are critical; may be repeated",
      acceptedWith,
    )
    .option("--exclude", "the days stay out of typical weekdays, as with `ncs exclude day`")
    .option("--thresholds <file.json>", "the limits of warnings and refusals that differ from the defaults")
    .option(...dryRunOption)
    .action(async (files: string[], options: DensityOptions, command: Command) => {
      if (options.recounted === true && options.typical !== true) {
        command.error("error: --recounted needs --typical: an observed day is counted once");
      }
      if (options.exclude === true && options.typical === true) {
        command.error("error: --exclude is for observed days: --typical ones are what typical weekdays are");
      }
      const { source: counter, licence } = options;
      if (licence !== undefined && counter === undefined) {
        command.error("error: --licence needs --source: it says whose numbers are licensed");
      }
      const { timeZone, replaceTimeZone: replacesTimeZone, holidays } = options;
      if (replacesTimeZone === true && timeZone === undefined) {
        command.error("error: --replace-time-zone needs --time-zone: it says which one comes instead");
      }
      // Printed at the end, as a bar of progress is drawn until then.
      const remarks: string[] = [];
      const wanted = {
        onRemark: (remark: string) => void remarks.push(remark),
        calendar: {
          ...(timeZone === undefined ? {} : { timeZone, replacesTimeZone }),
          ...(holidays === undefined ? {} : { holidays: await holidaysIn(holidays) }),
        },
        format: options.format,
        rows: options.rows,
        coverage: options.coverage === rowsAlone ? undefined : options.coverage,
        marketShare: options.marketShare,
        typical: options.typical === true,
        isRecounted: options.recounted === true,
        accepted: options.accept,
        isExcluded: options.exclude,
        thresholds: options.thresholds === undefined ? undefined : await thresholdsIn(options.thresholds),
      };
      const stack = await connectStack(options, "density-imports", usePublishingStack);
      const { rows, findings, extent, ...counts } = await importHere(files, {
        ...wanted,
        provenance: counter === undefined ? await sourceHere(files, options) : { source: counter, licence },
        isDryRun: options.dryRun,
      });
      for (const remark of remarks) print(remark);
      await printFindings(findings, print);
      print(
        options.dryRun === true
          ? `${rows} ${plural(rows, "row")} could be imported into ${stack}; nothing was written`
          : `${rows} ${plural(rows, "row")}, ${changedItems(counts)} in ${stack}`,
      );
      await printWhereToLook(options, extent, print);
    });
}

async function sourceHere(
  files: readonly string[],
  { outputs }: StackOptions,
): Promise<DensityImport["provenance"]> {
  const [{ sourceOf }, { currentDataSet }] = await Promise.all([
    import("../console/source-of-import.ts"),
    import("../../functions/population-density/tiles/data-set-store.ts"),
  ]);
  const stored = (await currentDataSet())?.provenance ?? [];
  return sourceOf(files, outputs === undefined, stored);
}

async function thresholdsIn(path: string): Promise<DensityImport["thresholds"]> {
  const { readThresholds } = await import("../import/density/read-thresholds.ts");
  return await readThresholds(path);
}

/** A line for each finding, the critical ones that were accepted too. */
async function printFindings(findings: DensityImported["findings"], print: Print): Promise<void> {
  if (findings.length === 0) return;
  const { findingText } = await import("../../functions/population-density/import/judge/judge-import.ts");
  for (const finding of findings) {
    print(`${finding.level === "critical" ? "accepted" : "warning"}: ${findingText(finding)}`);
  }
}

async function importHere(
  files: readonly string[],
  wanted: Omit<DensityImport, "files" | "onProgress" | "precisions" | "threshold">,
): Promise<DensityImported> {
  const [{ importDensity }, { configuredDensities }, { withPatientCalls }] = await Promise.all([
    import("../import/density/import-density.ts"),
    import("../import/density/configured.ts"),
    import("../../shared/aws/patient-calls.ts"),
  ]);
  return await withPatientCalls(() =>
    withProgress((show) =>
      importDensity({
        files,
        ...wanted,
        ...configuredDensities(),
        onProgress: ({ bytes, allBytes, date }) =>
          show({
            done: bytes,
            all: allBytes,
            stage: date === undefined ? "read" : `read, storing ${date}`,
            stored: date === undefined ? undefined : storedInPart,
          }),
      }),
    ),
  );
}

/** Instead of a file: the coverage is the cells that rows name. */
const rowsAlone = "rows";

interface DensityOptions extends StackOptions {
  readonly coverage: string;
  readonly format?: RowFormat;
  readonly rows?: number;
  readonly marketShare?: number;
  readonly typical?: boolean;
  readonly recounted?: boolean;
  readonly timeZone?: string;
  readonly replaceTimeZone?: boolean;
  readonly holidays?: string;
  readonly source?: string;
  readonly licence?: string;
  readonly accept?: FindingCode[];
  readonly exclude?: boolean;
  readonly thresholds?: string;
  readonly dryRun?: boolean;
}

function shareOf(text: string): number {
  const share = /^(?:0?\.\d+|1(?:\.0+)?)$/.test(text) ? Number(text) : 0;
  if (share > 0) return share;
  throw new InvalidArgumentError("It must be above 0 and at most 1.");
}

async function holidaysIn(path: string): Promise<string[]> {
  const { readHolidays } = await import("../import/density/holidays.ts");
  return await readHolidays(path);
}

function acceptedWith(text: string, before: readonly FindingCode[] = []): FindingCode[] {
  const code = findingCodes.find((each) => each === text);
  if (code !== undefined) return [...new Set([...before, code])];
  throw new InvalidArgumentError(`It must be one of ${findingCodes.join(", ")}.`);
}

function timeZoneOf(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError("It must be the name of a time zone, such as Europe/Madrid.");
}

function nameOf(text: string): string {
  if (provenance.shape.source.safeParse(text).success) return text;
  throw new InvalidArgumentError("It must have 1 to 200 characters.");
}
