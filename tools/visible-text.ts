/** Control characters of ASCII and Latin-1 but tab and line end, and marks that change the direction of text. */
const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A text with characters that a terminal would obey as it is written in JSON: `\u001b` instead of an escape. */
export function visibleText(text: string): string {
  return text.replaceAll(
    controls,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
