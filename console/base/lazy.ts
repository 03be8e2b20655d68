/** Parts of the page that are loaded when they are first needed. */
import { buttonTo, html } from "./dom.ts";
import { withStorage } from "./storage.ts";
import { ApiError, fetchWhole } from "./whole-answer.ts";

/** Says in the tab that a page was loaded again for new parts, so that it is not loaded again and again. */
const reloadedFor = "network-capabilities reloaded-for";

/**
 * Loads a part. After a deployment the files of an open page are gone: then the page loads itself again, once. Any other
 * failure is said in the part's place, with a button that tries again. Where that fails while the service can be reached,
 * the page loads itself: a browser may never ask again for a part that did not come whole, or for one that it imports.
 * @returns whether the part was loaded.
 */
export async function loadPart(
  place: HTMLElement,
  load: () => Promise<void>,
  isAgain = false,
): Promise<boolean> {
  try {
    await load();
    return true;
  } catch (error) {
    // A part of which only the beginning came is no program.
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    const current = await currentScript();
    if (current !== undefined && (isAgain || (current !== ownScript() && markReload(current)))) {
      location.reload();
      return false;
    }
    return await new Promise((resolve) => {
      const tryAgain = () => {
        place.replaceChildren();
        loadPart(place, load, true).then(resolve);
      };
      place.replaceChildren(
        html(
          "div",
          { class: "message problem", role: "alert" },
          html("p", {}, "A part of this page could not be loaded."),
          buttonTo("Try again", tryAgain),
        ),
      );
    });
  }
}

function ownScript(): string | undefined {
  return scriptIn(document);
}

/** The script of the page as the service has it now; undefined if it cannot be reached. */
async function currentScript(): Promise<string | undefined> {
  try {
    const { ok, text } = await fetchWhole(document.baseURI, { cache: "no-store", credentials: "omit" });
    const page = new DOMParser().parseFromString(text, "text/html");
    return ok ? scriptIn(page) : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

function scriptIn(page: Document): string | undefined {
  return page.querySelector('script[type="module"]')?.getAttribute("src") ?? undefined;
}

/** Notes that the page is loaded again for a script. @returns false if it was before, or the tab keeps nothing. */
function markReload(script: string): boolean {
  const isNoted = withStorage("sessionStorage", (storage) => {
    if (storage.getItem(reloadedFor) === script) return false;
    storage.setItem(reloadedFor, script);
    return true;
  });
  return isNoted === true;
}
