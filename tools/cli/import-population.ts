import { type Command, InvalidArgumentError, Option } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { plural } from "../../shared/plural.ts";
import { type NamedColumns, roles } from "../import/density/population/columns.ts";
import type { PopulationImport } from "../import/density/population/import-population.ts";
import { boxOf, type StackOptions, wholeNumber, withStackOptions } from "./options.ts";
import { changedItems, type Print } from "./print.ts";
import { storedInPart, withProgress } from "./progress.ts";
import { connectStack, printWhereToLook, usePublishingStack } from "./stack.ts";

/** `ncs import population`: a public grid of residents, as densities of a typical week. */
export function addImportPopulation(
  importing: Command,
  nameOf: (text: string) => string,
  print: Print,
): void {
  const command = importing
    .command("population <file>")
    .description(
      "how many people live where, as a typical week: a public grid such as WorldPop (geotiff), Kontur (h3), " +
        "or a CSV with latitude, longitude and people (points)",
    );
  withStackOptions(command)
    .addOption(
      new Option("--kind <kind>", "what the file is")
        .choices(["points", "h3", "geotiff"])
        .makeOptionMandatory(),
    )
    .requiredOption(
      "--bbox <west,south,east,north>",
      "the covered area, in degrees; of a geotiff, as far as it has data",
      boxOf,
    )
    .addOption(
      new Option(
        "--no-data <meaning>",
        "nobody: a geotiff's pixels without data are uninhabited, and covered",
      ).choices(["nobody"]),
    )
    .requiredOption("--source <text>", "who counted, as the grid's publisher asks to be named", nameOf)
    .requiredOption("--licence <text>", "the licence of the grid, such as CC-BY-4.0", nameOf)
    .option(
      "--column <what=name>",
      `the name of a CSV's column for ${roles.join(", ")}, if it is another than usual; may be repeated`,
      columnsOf,
    )
    .option(
      "--curve <curve>",
      "which share is there by hour: flat, residential, or a JSON file of 24 numbers, or 168 from Monday on (UTC)",
      "flat",
    )
    .option("--precision <length>", "length of the geohashes", wholeNumber(3, 8), 7)
    .option("--dry-run", "read the file, check it against what is stored, and write nothing")
    .action(async (file: string, options: PopulationOptions) => {
      const stack = await connectStack(options, "density-imports", usePublishingStack);
      const { people, peopleOutside, remarks, extent, ...counts } = await run(file, options);
      for (const remark of remarks) print(remark);
      const found = `${counted(people)} ${plural(Math.round(people), "person", "people")} in the box, ${counted(peopleOutside)} outside`;
      print(
        options.dryRun === true
          ? `${found}; nothing was written into ${stack}`
          : `${found}; ${changedItems(counts)} in ${stack}`,
      );
      await printWhereToLook(options, extent, print);
    });
}

function counted(number: number): string {
  return Math.round(number).toLocaleString("en");
}

/** Adds a column's name to those given before. */
function columnsOf(text: string, before: NamedColumns = {}): NamedColumns {
  const [what = "", ...name] = text.split("=");
  const role = roles.find((each) => each === what);
  if (role === undefined || name.join("=").trim() === "") {
    throw new InvalidArgumentError(`It must be ${roles.join(", ")} and a name, such as people=P20_POP.`);
  }
  return { ...before, [role]: name.join("=") };
}

interface PopulationOptions extends StackOptions {
  readonly kind: PopulationImport["kind"];
  readonly bbox: Box;
  readonly source: string;
  readonly licence: string;
  /** What --no-data says: true if it is not given, as commander has it for an option that begins with "no". */
  readonly data: true | "nobody";
  readonly column?: NamedColumns;
  readonly curve: string;
  readonly precision: number;
  readonly dryRun?: boolean;
}

async function run(file: string, options: PopulationOptions) {
  const [{ importPopulation }, { curveOf }, { withPatientCalls }] = await Promise.all([
    import("../import/density/population/import-population.ts"),
    import("../import/density/population/curve.ts"),
    import("../../shared/aws/patient-calls.ts"),
  ]);
  const curve = await curveOf(options.curve);
  const { kind, bbox: box, data, column: columns } = options;
  const { precision, source, licence, dryRun: isDryRun = false } = options;
  if (data === "nobody" && kind !== "geotiff") throw new Error("--no-data: is of --kind geotiff alone");
  if (columns !== undefined && kind === "geotiff")
    throw new Error("--column: is of --kind points and h3 alone");
  return await withPatientCalls(() =>
    withProgress((show) =>
      importPopulation({
        file,
        kind,
        box,
        noData: kind !== "geotiff" ? undefined : data === "nobody" ? "nobody" : "uncovered",
        columns,
        curve,
        precision,
        provenance: { source, licence },
        isDryRun,
        curveName: options.curve,
        onProgress: ({ read, day }) =>
          show({
            done: read,
            stage: day === undefined ? "places read" : `places read, storing ${day}`,
            stored: day === undefined || isDryRun ? undefined : storedInPart,
          }),
      }),
    ),
  );
}
