import { html } from "../base/dom.ts";

/**
 * What is coloured in JSON and in programs: strings, which may be names of members, other quotes in a line, numbers,
 * keywords, and options of commands.
 */
const tokens =
  /(?<string>"(?:\\.|[^"\\\n])*")(?<member>\s*:)?|(?<quoted>'[^'\n]*'|`[^`\n]*`)|(?<numeral>(?<=[\s[(,])-?\d+(?:\.\d+)?(?=[\s,\])}]|$))|(?<keyword>\b(?:await|as|const|curl|export|from|if|import|new|print|throw|true|false|null|with)\b)|(?<option>(?<=\s)--?[A-Za-z-]+)/g;

/**
 * Colours a program or JSON. A long token takes the place of a few characters, and is copied as a whole.
 * @param secret the access token in the text, if any.
 */
export function highlighted(text: string, secret?: string): readonly (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let end = 0;
  const add = (from: number, to: number, kind?: string) => {
    const piece = text.slice(from, to);
    if (piece === "") return;
    const parts = withSecret(piece, secret);
    nodes.push(...(kind === undefined ? parts : [html("span", { class: kind }, ...parts)]));
  };
  for (const match of text.matchAll(tokens)) {
    const { string, member, ...others } = match.groups ?? {};
    const [kind] = Object.entries(others).find(([, part]) => part !== undefined) ?? [];
    add(end, match.index);
    end = match.index + (string?.length ?? match[0].length);
    add(match.index, end, string === undefined ? kind : member === undefined ? "string" : "member-name");
  }
  add(end, text.length);
  return nodes;
}

function withSecret(piece: string, secret: string | undefined): readonly (Node | string)[] {
  if (secret === undefined || !piece.includes(secret)) return [piece];
  const [before = "", after = ""] = piece.split(secret, 2);
  return [before, html("span", { class: "secret" }, secret), after];
}
