import type { Endpoint } from "../../shared/endpoint.ts";
import { code, markdownTable } from "./generated-part.ts";

/** The endpoints as a Markdown table, in the order they are listed. */
export function endpointTable(endpoints: readonly Endpoint[]): string {
  return markdownTable(
    ["Method and path", "Alias", "What it does", "Scope"],
    endpoints.map(({ method, path, aliases, summary, scope }) => [
      code(`${method} ${path}`),
      aliases.map(code).join(", "),
      summary,
      scope === null ? "none" : code(scope),
    ]),
  );
}
