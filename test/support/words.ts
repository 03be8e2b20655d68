/** The words of a text: cases of a table without spaces in them. */
export function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
