import { basename } from "node:path";
import { isModelled } from "../../console/data/basis.ts";
import type { Provenance } from "../../functions/population-density/tiles/data-set.ts";

/**
 * Who counted where nobody says it: callers would take counts beside models for one of these.
 * @param isLocal whether it is into an `npm start`
 * @param stored the sources of what is stored
 * @returns the name of its file, on this machine; undefined where what is stored is not all modelled.
 * @throws {Error} where `--source` is needed.
 */
export function sourceOf(
  files: readonly string[],
  isLocal: boolean,
  stored: readonly Provenance[],
): Provenance | undefined {
  const [first = "", ...others] = files.map((path) => basename(path));
  const isUnnamed = files.some((path) => path === "-" || path.startsWith("/dev/"));
  if (isLocal && !isUnnamed) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    return { source: `${first.slice(0, 200 - more.length)}${more}` };
  }
  if (!isLocal && !isModelled(stored)) return undefined;
  const reason = isLocal
    ? "standard input has no name"
    : "all that is stored is modelled, and this would seem so";
  throw new Error(`--source: say who counted: ${reason}`);
}
