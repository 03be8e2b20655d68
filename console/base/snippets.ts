/** Programs that send a request. */

/** The request that a program sends. */
export interface SnippetRequest {
  /** In capitals. */
  readonly method: string;
  readonly url: string;
  /** Headers other than those of the token and the body. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether the request needs no token. */
  readonly isPublic?: boolean;
  /** The access token; programs read the environment variable TOKEN without one. */
  readonly token?: string | undefined;
}

/** A shell command that logs in as the variables EMAIL and PASSWORD say, and keeps the token in TOKEN. */
export function shellLogin(url: string): string {
  return [
    "export TOKEN=$(node -p 'JSON.stringify({emailaddress: process.env.EMAIL, password: process.env.PASSWORD})' |",
    `  curl -sS ${quoted(url)} -d @- |`,
    `  node -p 'const answer = JSON.parse(fs.readFileSync(0, "utf8") || process.exit(1));`,
    "    answer.code ? (console.error(answer), process.exit(1)) : answer.Data.access_token')",
  ].join("\n");
}

/** Generators of the program, by the name of the language. */
export const languages = {
  curl: ({ method, url, body, ...request }) => {
    const isImplied = method === (body === undefined ? "GET" : "POST");
    const authorization =
      request.token === undefined
        ? '-H "Authorization: Bearer $TOKEN"'
        : `-H ${quoted(`Authorization: Bearer ${request.token}`)}`;
    return [
      `curl ${isImplied ? "" : `-X ${method} `}${quoted(url)}`,
      "--compressed",
      ...(request.isPublic ? [] : [authorization]),
      ...otherHeaders({ body, ...request }).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body, null, 2))}`]),
    ].join(" \\\n  ");
  },
  JavaScript: ({ method, url, body, ...request }) => {
    const authorization =
      request.token === undefined
        ? // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program.
          "`Bearer ${process.env.TOKEN}`"
        : JSON.stringify(`Bearer ${request.token}`);
    const headers = [
      ...(request.isPublic ? [] : [`authorization: ${authorization}`]),
      ...otherHeaders({ body, ...request }).map(
        ([name, value]) => `"${name.toLowerCase()}": ${JSON.stringify(value)}`,
      ),
    ];
    const options = [
      ...(method === "GET" ? [] : [`  method: "${method}",`]),
      ...(headers.length === 0 ? [] : ["  headers: {", ...headers.map((line) => `    ${line},`), "  },"]),
      ...(body === undefined
        ? []
        : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), "  ")}),`]),
    ];
    const argument = options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`;
    return [
      `const response = await fetch(${JSON.stringify(url)}${argument});`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program.
      "if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);",
      `console.log(await response.${answersJson(request) ? "json" : "text"}());`,
    ].join("\n");
  },
  Python: ({ method, url, body, ...request }) => {
    const authorization =
      request.token === undefined
        ? `f"Bearer {os.environ['TOKEN']}"`
        : JSON.stringify(`Bearer ${request.token}`);
    const headers = [
      ...(request.isPublic ? [] : [`"Authorization": ${authorization}`]),
      ...otherHeaders({ body, ...request }).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`),
    ];
    const modules = [
      ...(answersJson(request) || body !== undefined ? ["json"] : []),
      ...(request.isPublic || request.token !== undefined ? [] : ["os"]),
      "urllib.request",
    ];
    return [
      `import ${modules.join(", ")}`,
      "",
      "request = urllib.request.Request(",
      `    ${JSON.stringify(url)},`,
      `    method="${method}",`,
      ...(body === undefined ? [] : [`    data=json.dumps(${indented(pythonOf(body), "    ")}).encode(),`]),
      ...(headers.length === 0
        ? []
        : ["    headers={", ...headers.map((line) => `        ${line},`), "    },"]),
      ")",
      "with urllib.request.urlopen(request) as response:",
      `    print(${answersJson(request) ? "json.load(response)" : "response.read().decode()"})`,
    ].join("\n");
  },
} as const satisfies Record<string, (request: SnippetRequest) => string>;

/** The name of a language. */
export type Language = keyof typeof languages;

function otherHeaders({ headers = {}, body }: Partial<SnippetRequest>): readonly [string, string][] {
  return [
    ...Object.entries(headers),
    ...(body === undefined ? [] : [["Content-Type", "application/json"] satisfies [string, string]]),
  ];
}

/** Whether the answer is JSON, which is what the service sends unless another format is accepted. */
function answersJson({ headers = {} }: Partial<SnippetRequest>): boolean {
  return headers.Accept === undefined || /[/+]json$/.test(headers.Accept);
}

/** Quotes one argument of a POSIX shell. */
function quoted(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Indents the lines of a text after its first. */
function indented(text: string, indent: string): string {
  return text.replaceAll("\n", `\n${indent}`);
}

const pythonConstants: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** A value as an expression of Python: JSON but for three words outside of strings. */
function pythonOf(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.replaceAll(/"(?:\\.|[^"\\])*"|\w+/g, (token) => pythonConstants[token] ?? token);
}
