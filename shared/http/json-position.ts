/** A position in a text, counted from 1; columns in UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

const space = /[ \t\n\r]*/y;
const mark = String.raw`[[\]{}:,]`;
const string = String.raw`"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const number = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const token = new RegExp(`${mark}|${string}|${number}|true|false|null`, "uy");

/** The tokens that may follow, by kind: a punctuator is its own kind, `"` is a string, `0` any other scalar. */
const value = '"0{[';
const memberName = '"';

/**
 * The position of the first JSON error in a text (RFC 8259); `undefined` for valid JSON. `JSON.parse` does not report
 * it in every version of Node.js, and quotes the text. Takes linear time at any depth of nesting.
 */
export function invalidJsonAt(text: string): TextPosition | undefined {
  const closing: string[] = [];
  let allowed = value;
  for (let at = 0; ; ) {
    at += matchAt(space, text, at).length;
    const found = matchAt(token, text, at);
    if (found === "" && at === text.length && allowed === "") return undefined;
    const kind = kindOf(found);
    if (kind === "" || !allowed.includes(kind)) return positionOf(at, text);
    if (kind === "{") allowed = `${memberName}}`;
    else if (kind === "[") allowed = `${value}]`;
    else if (kind === ":") allowed = value;
    else if (kind === ",") allowed = closing.at(-1) === "}" ? memberName : value;
    else if (kind === '"' && !allowed.includes("0")) allowed = ":";
    else {
      if (kind === "}" || kind === "]") closing.pop();
      allowed = closing.length === 0 ? "" : `,${closing.at(-1)}`;
    }
    if (kind === "{" || kind === "[") closing.push(kind === "{" ? "}" : "]");
    at += found.length;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function kindOf(found: string): string {
  const first = found.charAt(0);
  return '"{}[]:,'.includes(first) ? first : "0";
}

function positionOf(at: number, text: string): TextPosition {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
