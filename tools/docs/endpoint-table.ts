import type { Endpoint } from "../../shared/endpoint.ts";
import { code, markdownTable } from "./generated-part.ts";

/** The endpoints as a Markdown table, in the order they are listed. */
export function endpointTable(endpoints: readonly Endpoint[]): string {
  return markdownTable(
    ["Operation", "Path (specification)", "Alias: CAMARA's own path", "Success", "Scope"],
    endpoints.map(({ summary, method, path, aliases, responses, scope }) => [
      summary,
      code(`${method} ${path}`),
      aliases.map(code).join(", "),
      Object.keys(responses).join(", "),
      scope === null ? "none" : code(scope),
    ]),
  );
}
