import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { parse } from "yaml";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { respond } from "./lockers.ts";

type Node = { readonly [name: string]: Node } | undefined;

/** Answers every request with 200 and the first example that an API definition of the folder has for it. */
export async function serveExamples(folder: string): Promise<ListeningServer> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  const documents = await Promise.all(
    files.map(async (name): Promise<Node> => parse(await readFile(join(folder, name), "utf8"))),
  );
  const operations = documents.flatMap((document) => {
    const { pathname } = new URL(String(document?.servers?.[0]?.url).replace("{apiRoot}", "http://a"));
    return Object.entries(document?.paths ?? {}).map(([path, item]) => {
      const [operation] = Object.values(item ?? {});
      const pattern = new RegExp(`^${pathname}${path}$`.replaceAll(/\{\w+\}/g, "[^/]+"));
      return { pattern, example: exampleOf(document, operation) };
    });
  });
  const server = createServer((request, response) => {
    request.resume();
    const found = operations.find(({ pattern }) => pattern.test(request.url ?? ""));
    respond(request, response, 200, found?.example ?? {});
  });
  return await listen(server, 0);
}

function exampleOf(document: Node, operation: Node): unknown {
  const content = resolved(document, operation?.responses?.["200"])?.content?.["application/json"];
  const [named] = Object.values(content?.examples ?? {});
  return content?.example ?? resolved(document, named)?.value;
}

function resolved(document: Node, node: Node): Node {
  const reference = node?.$ref as string | undefined;
  if (typeof reference !== "string") return node;
  return reference
    .split("/")
    .slice(1)
    .reduce<Node>((found, name) => found?.[name], document);
}
