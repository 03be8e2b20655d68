import { readdirSync, readFileSync } from "node:fs";
import { marked } from "marked";

/** A fenced block of a document. */
export interface Fence {
  /** From the root of the project. */
  readonly file: string;
  readonly line: number;
  /** The first word after the fence. */
  readonly language: string;
  /** The further words, such as `needs-aws` or `status=404`, with what they are set to. */
  readonly marks: ReadonlyMap<string, string>;
  readonly text: string;
}

/** What people read: every Markdown file of the root, of `docs/` and of `client/`. */
export const documents: readonly string[] = [
  ...markdownIn("."),
  ...markdownIn("client"),
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md"))
    .sort(),
];

function markdownIn(folder: string): string[] {
  const prefix = folder === "." ? "" : `${folder}/`;
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `${prefix}${name}`);
}

/** The fenced blocks of a document, in its order, also those in lists and quotes. */
export function fencesIn(file: string): readonly Fence[] {
  const source = readFileSync(file, "utf8");
  const fences: Fence[] = [];
  let from = 0;
  marked.walkTokens(marked.lexer(source), (token) => {
    if (token.type !== "code" || token.codeBlockStyle === "indented") return;
    // Of a block in a list, the raw text has lost its indentation; its first line is there, and in this order.
    const [opening = ""] = token.raw.trimStart().split("\n");
    from = source.indexOf(opening, from);
    const line = source.slice(0, from).split("\n").length;
    from += opening.length;
    const [language = "", ...words] = `${token.lang ?? ""}`.split(/\s+/).filter(Boolean);
    const marks = new Map(words.map((word) => [word.replace(/=.*/, ""), word.replace(/^[^=]*=?/, "")]));
    fences.push({ file, line, language, marks, text: token.text });
    // The fence that closes it reads like one that opens another without a language.
    from = source.indexOf(opening.slice(0, 3), from) + 3;
  });
  return fences;
}

/** Where a block is, as editors and terminals understand it. */
export function placeOf({ file, line }: Fence): string {
  return `${file}:${line}`;
}
