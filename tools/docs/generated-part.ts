/**
 * A Markdown text with other content between the lines `<!-- name -->` and `<!-- /name -->`.
 * @throws {Error} when the text lacks one of the two lines, or has them in the wrong order.
 */
export function withGeneratedPart(text: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const lines = text.split("\n");
  const first = lines.indexOf(begin);
  const last = lines.indexOf(end);
  if (first === -1 || last < first) {
    throw new Error(`${name} need the lines ${begin} and ${end}, in this order`);
  }
  return [...lines.slice(0, first + 1), "", content, "", ...lines.slice(last)].join("\n");
}

/**
 * A Markdown text with other words between `<!-- name -->` and `<!-- /name -->` within a line.
 * @throws {Error} when the text lacks one of the two.
 */
export function withGeneratedValue(text: string, name: string, value: string | number): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [first, last] = [text.indexOf(begin), text.indexOf(end)];
  if (first === -1 || last < first) throw new Error(`${name} needs ${begin} and ${end}, in this order`);
  return `${text.slice(0, first)}${begin}${value}${text.slice(last)}`;
}

/** A Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Text in the font of code. */
export function code(text: string): string {
  return `\`${text}\``;
}
