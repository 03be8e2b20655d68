/**
 * Imports a data folder and the numbers of the sandbox into the tables that the environment names. Temporary files go
 * to a given folder.
 */
import { withPatientCalls } from "../../shared/aws/patient-calls.ts";
import { importFolder } from "../import/data-folder.ts";
import { importSandbox } from "../import/sandbox.ts";

const [data, temporary] = process.argv.slice(2);
if (data === undefined || temporary === undefined) throw new Error("usage: import-data DATA TEMPORARY");

// The parent process removes the folder, however this process ends.
for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = temporary;
try {
  await withPatientCalls(async () => {
    await importFolder(data);
    await importSandbox();
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
process.exit(0);
