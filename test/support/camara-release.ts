import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The folder with CAMARA's definitions and, in `features`, its feature files: `CAMARA_DEFINITIONS`, or one that is
 * called `reference` in a folder next to the project. They are no part of the project; undefined if there is none.
 */
export function camaraRelease(): string | undefined {
  const siblings = readdirSync("..", { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [] : [join("..", entry.name, "reference")],
  );
  const { CAMARA_DEFINITIONS } = process.env;
  const folders = CAMARA_DEFINITIONS ? [CAMARA_DEFINITIONS] : siblings;
  return folders.find((folder) => existsSync(join(folder, "features")));
}
