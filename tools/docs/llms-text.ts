import { marked } from "marked";
import type { oas31 } from "zod-openapi";

/** The sections of the quickstart that are enough to begin with. */
const essentials: readonly string[] = ["Log in", "QoS profiles", "Population density at once"];

/** Where the quickstart's service is, and what stands for the address that was asked. */
const localAddress = "http://127.0.0.1:3000";
const address = "{address}";

const methods = ["get", "post", "delete"] as const;

/**
 * The text of `docs/llms.txt` (llmstxt.org): what an agent needs to call the service. The console's function replaces
 * `{address}` by the address that was asked.
 * @param document the OpenAPI document without aliases.
 * @param quickstart the text of `docs/quickstart.md`, whose shell blocks are taken.
 * @throws {Error} when the quickstart lacks one of the sections.
 */
export function llmsText(document: oas31.OpenAPIObject, quickstart: string): string {
  return `# ${document.info.title}

> ${document.info.description}

Bodies are JSON. Requests need \`Authorization: Bearer\` with a token that has the scope of the operation, unless it says
otherwise. An error's \`code\` says what is wrong, its \`message\` what was expected. The login and the phone numbers below
are those of the demonstration data.

${essentials.map((title) => sectionOf(quickstart, title)).join("\n")}
## Operations

${Object.entries(document.paths ?? {})
  .flatMap(([path, item]) => linesOf(path, item))
  .join("\n")}

## Documents

- [OpenAPI document](${address}/openapi.json?aliases=false): every operation with schemas, examples and errors
- [OpenAPI document with all paths](${address}/openapi.json): also the paths of CAMARA's releases
- [Catalogue of the APIs](${address}/.well-known/api-catalog): the same APIs as links
- [Reference](${address}/reference): a page to read and to try the operations
`;
}

/** A section without its programs in other languages than the shell's. */
function sectionOf(quickstart: string, title: string): string {
  const tokens = marked.lexer(quickstart);
  const start = tokens.findIndex((token) => token.type === "heading" && token.text === title);
  if (start === -1) throw new Error(`docs/quickstart.md has no section "${title}"`);
  const length = tokens.slice(start + 1).findIndex(({ type }) => type === "heading");
  return tokens
    .slice(start, length === -1 ? undefined : start + 1 + length)
    .filter(
      (token) =>
        ["heading", "paragraph"].includes(token.type) || (token.type === "code" && token.lang === "sh"),
    )
    .map(({ raw }) => `${raw.trim().replace(localAddress, address)}\n`)
    .join("\n");
}

function linesOf(path: string, item: oas31.PathItemObject): readonly string[] {
  return methods.flatMap((method) => {
    const { operationId, description = "" } = item[method] ?? {};
    if (operationId === undefined) return [];
    return `- \`${method.toUpperCase()} ${path}\` (${operationId}): ${description.replaceAll(/\s+/g, " ")}`;
  });
}
