/** Imports a data folder into the tables that the environment names, with a folder for what is temporary. */
import { withPatientCalls } from "../../shared/aws/patient-calls.ts";
import { importFolder } from "../import/data-folder.ts";

const [data, temporary] = process.argv.slice(2);
if (data === undefined || temporary === undefined) throw new Error("usage: import-data DATA TEMPORARY");

// The parent process removes the folder, however this process ends.
for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = temporary;
try {
  await withPatientCalls(() => importFolder(data));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
process.exit(0);
