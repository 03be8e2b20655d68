import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Pages } from "./pages.ts";
import type { LocalService } from "./service.ts";
import { watched, watchSources } from "./watching.ts";

/** Writes a line of the log. */
export type Log = (level: "ERROR" | "INFO" | "WARN", message: string) => unknown;

/** Lets a running service take up what is saved from now on, and says so. */
export function followSources(service: Pick<LocalService, "reload">, first: Pages, log: Log): void {
  let pages = first;
  watchSources(async (files) => {
    const isOfPages = files.some((file) => /^console[/\\]/.test(file));
    const next = isOfPages ? new Pages((text) => log("INFO", text)) : pages;
    try {
      await service.reload(next);
      log("INFO", `Took up ${files.join(", ")}`);
      if (next !== pages) pages.remove();
      pages = next;
    } catch (error) {
      if (next !== pages) next.remove();
      log("ERROR", `Not taken up, the former code goes on: ${reasonOf(error)}`);
    }
  });
}

const project = fileURLToPath(new URL("../..", import.meta.url));

/** Where the stack of an error names a file first, as a path or as a URL. */
const place = /(?:file:\/\/)?((?:\/?[A-Za-z]:)?[/\\][^\s():]*\.(?:mjs|ts)):(\d+)/;

/** The message of an error, after the file and the line of the service where it is: Node.js has them in the stack. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const [, path = "", line] = place.exec(error.stack ?? "") ?? [];
  const file = relative(project, path.replace(/^\/(?=[A-Za-z]:)/, ""));
  const isOfService = line !== undefined && watched.some((folder) => file.startsWith(folder));
  return isOfService ? `${file}:${line}: ${error.message}` : error.message;
}
