import { announce } from "./dom.ts";

/**
 * Copies the text of an element, or selects it where the browser denies pages access to the clipboard, as it does without
 * TLS. Announces which of the two.
 * @returns what was announced.
 */
export async function copyText(source: HTMLElement): Promise<string> {
  let outcome = "Copied.";
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
  } catch (error) {
    if (!(error instanceof DOMException) && !(error instanceof TypeError)) throw error;
    getSelection()?.selectAllChildren(source);
    outcome = "Selected: press Ctrl+C or ⌘C.";
  }
  announce(outcome);
  return outcome;
}
