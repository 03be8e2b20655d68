/** A request of an `.http` file, with its variables unresolved. */
export interface HttpRequest {
  /** The text after `###`. */
  readonly title: string;
  /** The name by which later requests refer to its response. */
  readonly name: string | undefined;
  readonly comments: readonly string[];
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An `.http` file as the REST Client of Visual Studio Code reads it. */
export interface HttpFile {
  /** The unresolved values of `@name = value`. */
  readonly variables: Readonly<Record<string, string>>;
  readonly requests: readonly HttpRequest[];
}

/**
 * Parses an `.http` file.
 * @throws {Error} for a request of an unknown form.
 */
export function parseHttpFile(text: string): HttpFile {
  const [head = "", ...parts] = text.split(/^###/m);
  const variables = Object.fromEntries(
    [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
  return { variables, requests: parts.map(parseRequest) };
}

function parseRequest(part: string): HttpRequest {
  const [top = "", ...rest] = part.trim().split("\n\n");
  const [title = "", ...lines] = top.split("\n");
  const comments = lines.filter((line) => line.startsWith("#")).map((line) => line.slice(1).trim());
  const [requestLine = "", ...headers] = lines.filter((line) => !line.startsWith("#"));
  const { method, url } = /^(?<method>[A-Z]+) (?<url>\S+)$/.exec(requestLine)?.groups ?? {};
  if (method === undefined || url === undefined) throw new Error(`${title} has no request line`);
  return {
    title: title.trim(),
    name: comments.find((comment) => comment.startsWith("@name "))?.slice("@name ".length),
    comments,
    method,
    url,
    headers: Object.fromEntries(
      headers.map((line) => {
        const [, name, value] = /^([\w-]+): (.+)$/.exec(line) ?? [];
        if (name === undefined || value === undefined) throw new Error(`${title} has no header in ${line}`);
        return [name, value];
      }),
    ),
    body: rest.length === 0 ? undefined : rest.join("\n\n"),
  };
}

const units: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/**
 * Resolves the variables of a text: those of the file, responses of named requests, new ids and times from now.
 * @throws {Error} for an unknown variable.
 */
export function resolved(
  text: string,
  variables: Readonly<Record<string, string>>,
  answers: ReadonlyMap<string, unknown>,
): string {
  return text.replaceAll(/\{\{([^}]+)\}\}/g, (_, expression: string) => {
    if (expression === "$guid") return crypto.randomUUID();
    const [, count, unit = ""] = /^\$datetime iso8601 (-?\d+) ([dhm])$/.exec(expression) ?? [];
    if (count !== undefined)
      return new Date(Date.now() + Number(count) * (units[unit] as number)).toISOString();
    const [, name = "", path = ""] = /^(\w+)\.response\.body\.\$\.([\w.]+)$/.exec(expression) ?? [];
    const value = answers.has(name)
      ? path.split(".").reduce<unknown>((found, step) => Reflect.get(Object(found), step), answers.get(name))
      : variables[expression];
    if (typeof value !== "string") throw new Error(`there is no {{${expression}}}`);
    return resolved(value, variables, answers);
  });
}
