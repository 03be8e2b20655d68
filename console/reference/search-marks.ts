/** Marks of what a search has found. They are no elements, so that texts are copied and read as they are. */

const name = "found";

let marks: readonly Range[] = [];

/** Marks words in the text of elements, instead of the last ones; none for words of a letter. */
export function markWords(elements: readonly Element[], words: readonly string[]): void {
  const wanted = words.filter((word) => word.length > 1);
  marks = wanted.length === 0 ? [] : elements.flatMap((one) => rangesIn(one, wanted));
  // Browsers of before 2023, and Firefox before 140, have no such marks.
  if ("highlights" in CSS) CSS.highlights.set(name, new Highlight(...marks));
}

/** Unfolds what hides the first mark in a section. */
export function unfoldFirstMark(section: Element): void {
  const first = marks.find(({ startContainer }) => section.contains(startContainer));
  let folded = first?.startContainer.parentElement?.closest("details");
  while (folded) {
    folded.open = true;
    folded = folded.parentElement?.closest("details");
  }
}

function rangesIn(element: Element, words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const text = node.nodeValue?.toLowerCase() ?? "";
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
