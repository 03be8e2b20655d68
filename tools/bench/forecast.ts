import * as z from "zod";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { tableVariable } from "../../shared/table.ts";
import { createTables, openDatabase } from "../local/servers/database.ts";
import { declaredTable } from "../local/servers/declared-table.ts";
import { atMost, type Bench, inUnit, type Row, shown } from "./bench.ts";
import { forkProgram, resultOf } from "./process.ts";

/** How far typical weekdays are from what is observed afterwards, and what libraries forecast from the same numbers. */
export const forecast: Bench = {
  about: [
    "How far typical weekdays are from what is observed afterwards: as an import compares them, by WAPE, at precision 6 in the",
    "centre of the demo city. Eight weeks are imported day by day, with clocks that go back on the last Sunday but one. Each",
    "count is drawn, the same each time, from the error that the model gives it (8 % and the root of the people). Libraries",
    "forecast each day from the four weeks of published hours before it, cell by cell: `arima`, with the season of a week",
    "differenced, is the seasonal-naive forecast (with an AR(1) term, as its pure form returns no numbers), and MSTL of",
    "`@bsull/augurs` takes seasons of a day and a week apart. Both know UTC alone.",
  ].join("\n"),
  run: async () => {
    const database = await openDatabase(undefined);
    try {
      const tables = [
        declaredTable(densities, "densities"),
        declaredTable(densityImports, "density-imports"),
      ];
      await createTables(database.endpoint, credentials, tables);
      const program = forkProgram("forecast.ts", [], {
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
        AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
        AWS_REGION: "eu-west-1",
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        [tableVariable(densities)]: "densities",
        [tableVariable(densityImports)]: "density-imports",
      });
      return (await resultOf(program, result)).flatMap(rowsOf);
    } finally {
      await database.close();
    }
  },
};

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const result = z.array(
  z.object({
    weeks: z.string(),
    slots: z.number(),
    typical: z.number(),
    within: z.number(),
    naive: z.number(),
    mstl: z.number(),
  }),
);

function rowsOf({ weeks, slots, typical, within, naive, mstl }: z.output<typeof result>[number]): Row[] {
  const what = `${weeks}, ${slots.toLocaleString("en")} cells × hours`;
  const percent = inUnit("%", 1);
  return [
    shown(`${what}: seasonal naive, by \`arima\``, percent(100 * naive)),
    shown(`${what}: MSTL, by \`@bsull/augurs\``, percent(100 * mstl)),
    atMost(`${what}: typical weekdays`, 100 * typical, 100 * Math.min(naive, mstl), percent),
    shown(`${what}: within the range of typical weekdays`, percent(100 * within)),
  ];
}
