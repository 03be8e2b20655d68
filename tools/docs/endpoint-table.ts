import type { Endpoint } from "../../shared/endpoint.ts";

const begin = "<!-- endpoints -->";
const end = "<!-- /endpoints -->";

/** The endpoints as a Markdown table, in the order they are listed. */
export function endpointTable(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(({ method, path, aliases, summary, scope }) => [
    code(`${method} ${path}`),
    aliases.map(code).join(", "),
    summary,
    scope === null ? "none" : code(scope),
  ]);
  return [["Method and path", "Alias", "What it does", "Scope"], ["---", "---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/**
 * A Markdown text with the table between the lines that mark its place.
 * @throws {Error} when the text lacks one of the two lines, or has them in the wrong order.
 */
export function withEndpointTable(text: string, endpoints: readonly Endpoint[]): string {
  const lines = text.split("\n");
  const first = lines.indexOf(begin);
  const last = lines.indexOf(end);
  if (first === -1 || last < first) {
    throw new Error(`the endpoint table needs the lines ${begin} and ${end}, in this order`);
  }
  return [...lines.slice(0, first + 1), "", endpointTable(endpoints), "", ...lines.slice(last)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}
