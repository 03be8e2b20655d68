import { basename } from "node:path";
import { isModelled } from "../../console/data/basis.ts";
import type { Provenance } from "../../functions/population-density/tiles/data-set.ts";

/** What is known of an import before it says who counted. */
interface ImportWithoutSource {
  readonly files: readonly string[];
  /** Whether it is into an `npm start`. */
  readonly isLocal: boolean;
  /** The sources of what is stored. */
  readonly stored: readonly Provenance[];
}

/**
 * Who counted where nobody says it: callers would take counts beside models for one of these.
 * @returns the name of its file, on this machine; undefined where what is stored is not all modelled.
 * @throws {Error} where `--source` is needed.
 */
export function sourceOf({ files, isLocal, stored }: ImportWithoutSource): Provenance | undefined {
  const [first = "", ...others] = files.map((path) => basename(path));
  const isUnnamed = files.some((path) => path === "-" || path.startsWith("/dev/"));
  if (isLocal && !isUnnamed) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    return { source: `${first.slice(0, 200 - more.length)}${more}` };
  }
  const reason = isLocal
    ? "standard input has no name"
    : "all that is stored is modelled, and these counts would be taken for a model too";
  if (isLocal || isModelled(stored)) throw new Error(`--source: say who counted: ${reason}`);
  return undefined;
}
