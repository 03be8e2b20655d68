import { announce, html } from "./dom.ts";

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

/** Copies the address of the page, which has the request and the hour on view. */
export async function copyLink(): Promise<void> {
  const address = html("span", { class: "hidden-text" }, location.href);
  document.body.append(address);
  await copyText(address);
  address.remove();
}
