/** The fragment of the page's address, which holds what the map shows. */
import { type ViewState, writeAddress } from "../request/address.ts";

/** Browsers refuse to write addresses more often than about three times a second. */
const delayMilliseconds = 400;

let pending: ReturnType<typeof setTimeout> | undefined;

/** Puts a new request into the address, so that Back returns to the one before. */
export function pushAddress(state: ViewState): void {
  clearTimeout(pending);
  const url = urlOf(state);
  if (url !== location.href) history.pushState(undefined, "", url);
}

/** Puts a change of the view into the address, soon. */
export function replaceAddress(state: ViewState): void {
  clearTimeout(pending);
  pending = setTimeout(() => {
    if (document.body.dataset.view === "map") history.replaceState(undefined, "", urlOf(state));
  }, delayMilliseconds);
}

/** Calls the listener when somebody has opened another address of the map: by Back, a bookmark, or by typing. */
export function onAddressChange(listener: () => void): void {
  addEventListener("hashchange", () => {
    clearTimeout(pending);
    if (document.body.dataset.view === "map") listener();
  });
}

/** The address of the page with what is on view. */
export function urlOf(state: ViewState): string {
  const url = new URL(location.href);
  url.hash = writeAddress(state);
  return url.href;
}
