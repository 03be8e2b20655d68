import { readdirSync, readFileSync } from "node:fs";
import { marked } from "marked";

/** A fenced block of a document. */
export interface Fence {
  /** The path from the project's root. */
  readonly file: string;
  readonly line: number;
  /** The first word after the fence. */
  readonly language: string;
  /** The further words, such as `needs-aws` or `status=404`, with their values. */
  readonly marks: ReadonlyMap<string, string>;
  readonly text: string;
}

/** Every Markdown file of the root, of `docs/` and of `client/`. */
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

/** The fenced blocks of a document in order, including those in lists and quotes. */
export function fencesIn(file: string): readonly Fence[] {
  const source = readFileSync(file, "utf8");
  const fences: Fence[] = [];
  let from = 0;
  marked.walkTokens(marked.lexer(source), (token) => {
    if (token.type !== "code" || token.codeBlockStyle === "indented") return;
    // In a list, the raw text of a block has no indentation, so only its first line is searched for.
    const [opening = ""] = token.raw.trimStart().split("\n");
    from = source.indexOf(opening, from);
    const line = source.slice(0, from).split("\n").length;
    from += opening.length;
    const [language = "", ...words] = `${token.lang ?? ""}`.split(/\s+/).filter(Boolean);
    const marks = new Map(words.map((word) => [word.replace(/=.*/, ""), word.replace(/^[^=]*=?/, "")]));
    fences.push({ file, line, language, marks, text: token.text });
    // A closing fence looks like an opening one without a language.
    from = source.indexOf(opening.slice(0, 3), from) + 3;
  });
  return fences;
}

/** The file and line of a block, as editors and terminals link them. */
export function placeOf({ file, line }: Fence): string {
  return `${file}:${line}`;
}
