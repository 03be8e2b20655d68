/**
 * The page: its views and the login they share. Changing the view does not reload the page.
 */
import "./style.css";
import { assetUrl } from "./base/assets.ts";
import { element } from "./base/dom.ts";
import { loadPart } from "./base/lazy.ts";
import { askForLogin, followLogin } from "./base/login-dialog.ts";
import { restoreSession } from "./base/session.ts";
import { followTheme } from "./base/theme.ts";
import { followUsage } from "./base/usage.ts";

type View = "map" | "reference";

const titles: Readonly<Record<View, string>> = { map: "Density map", reference: "Reference" };
const paths: Readonly<Record<View, string>> = { map: "./", reference: "reference" };

/** Loads the code of a view when the view is first opened. */
const loaders: Readonly<Record<View, () => Promise<void>>> = {
  map: async () => {
    const mapStyle = document.querySelector<HTMLMetaElement>('meta[name="map-style"]')?.content ?? "";
    // Both at once: a browser finds the second one only in the first.
    const [{ showMapView }] = await Promise.all([
      import("./map-view/map-view.ts"),
      import(assetUrl("mapShared")),
    ]);
    await showMapView(mapStyle);
  },
  reference: async () => {
    const { showReference } = await import("./reference/reference.ts");
    await showReference();
  },
};
const loaded = new Set<View>();

/** The fragments of the addresses that views had when they were left. */
const fragments = new Map<View, string>();

let isFollowingLogin = false;

function viewOf(pathname: string): View {
  return /\/reference\/?$/.test(pathname) ? "reference" : "map";
}

function show(view: View): void {
  document.title = `${titles[view]} · Network Capabilities`;
  for (const one of Object.keys(titles) as View[]) element(`${one}-view`).hidden = one !== view;
  document.body.dataset.view = view;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("nav a[data-view]")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (view === "reference") element<HTMLDialogElement>("login").close();
  else if (isFollowingLogin) askForLogin();
  if (!loaded.has(view)) {
    loaded.add(view);
    void loadPart(element(view === "map" ? "panel" : "reference"), loaders[view]);
  }
}

/** Opens a view by a link to it, anywhere on the page, without loading the page again. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const shown = viewOf(location.pathname);
  const view = (Object.keys(paths) as View[]).find((one) => link.href.split("#")[0] === urlOf(one));
  if (view === undefined) return;
  if (view === shown) {
    // Browsers follow fragments themselves; without one they would load the page again, without what is on view.
    if (link.hash === "") event.preventDefault();
    return;
  }
  event.preventDefault();
  fragments.set(shown, location.hash);
  history.pushState(undefined, "", urlOf(view) + (link.hash || (fragments.get(view) ?? "")));
  show(view);
  document.getElementById(link.hash.slice(1))?.scrollIntoView();
}

function urlOf(view: View): string {
  return new URL(paths[view], document.baseURI).href;
}

document.addEventListener("click", follow);
addEventListener("popstate", () => show(viewOf(location.pathname)));

followTheme();
show(viewOf(location.pathname));
await restoreSession();
followLogin();
followUsage();
isFollowingLogin = true;
