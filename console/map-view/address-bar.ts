/** The fragment of the page's address, which holds what the map shows. */
import type { ScaleName } from "../answer/legend.ts";
import { type ViewState, writeAddress } from "../request/address.ts";

/** What a reload keeps, and an address that is shared does not have. */
interface KeptState {
  readonly scale: ScaleName;
}

/** What was kept of the current entry of the history; undefined for an address that was opened. */
export function keptState(): KeptState | undefined {
  return (history.state ?? undefined) as KeptState | undefined;
}

/** Browsers refuse to write addresses more often than about three times a second. */
const delayMilliseconds = 400;

let pending: ReturnType<typeof setTimeout> | undefined;

/** Puts a new request into the address, so that Back returns to the one before. */
export function pushAddress(state: ViewState, kept: KeptState): void {
  clearTimeout(pending);
  const url = urlOf(state);
  if (url !== location.href) history.pushState(kept, "", url);
}

/** Puts a change of the view into the address, soon. */
export function replaceAddress(state: ViewState, kept: KeptState): void {
  clearTimeout(pending);
  pending = setTimeout(() => {
    if (document.body.dataset.view === "map") history.replaceState(kept, "", urlOf(state));
  }, delayMilliseconds);
}

/** Calls the listener when somebody has opened another address of the map: by Back, a bookmark, or by typing. */
export function onAddressChange(listener: () => void): void {
  addEventListener("hashchange", () => {
    clearTimeout(pending);
    if (document.body.dataset.view === "map") listener();
  });
}

function urlOf(state: ViewState): string {
  const url = new URL(location.href);
  url.hash = writeAddress(state);
  return url.href;
}
