/** A program in TypeScript that sends a request with `openapi-fetch`, as `client/` does, and the types of the document. */

import type { Parameter } from "./document.ts";

/** The request, as that client takes it. */
export interface ClientRequest {
  /** In capitals. */
  readonly method: string;
  /** The path of the document, with its parameters in braces. */
  readonly path: string;
  readonly baseUrl: string;
  readonly parameters: Readonly<Record<Parameter["in"], Readonly<Record<string, string | number>>>>;
  /** The media type to answer with; the first of the operation without one. */
  readonly accept?: string | undefined;
  readonly body?: unknown;
  /** The access token; the program reads the environment variable TOKEN without one. */
  readonly token?: string | undefined;
}

/** Writes the program. */
export function clientProgram({ method, path, baseUrl, parameters, ...request }: ClientRequest): string {
  const { accept, body, token } = request;
  const sent = Object.fromEntries(
    Object.entries(parameters).filter(([, values]) => Object.keys(values).length > 0),
  );
  const options = {
    ...(Object.keys(sent).length === 0 ? {} : { params: sent }),
    ...(body === undefined ? {} : { body }),
    ...(accept === undefined ? {} : { headers: { Accept: accept }, parseAs: "text" }),
  };
  const argument = Object.keys(options).length === 0 ? "" : `, ${literal(options)}`;
  const authorization =
    token === undefined
      ? // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program.
        "`Bearer ${process.env.TOKEN}`"
      : JSON.stringify(`Bearer ${token}`);
  return [
    "// npm install openapi-fetch",
    `// npx openapi-typescript ${baseUrl}/openapi.json --output schema.d.ts`,
    'import createClient from "openapi-fetch";',
    'import type { paths } from "./schema.d.ts";',
    "",
    "const client = createClient<paths>({",
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    `  headers: { authorization: ${authorization} },`,
    "});",
    `const { data, error } = await client.${method}(${JSON.stringify(path)}${argument});`,
    "console.log(data ?? error);",
  ].join("\n");
}

/** A value as people write it in TypeScript: without quotes around names that need none. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, "$1$2:");
}
