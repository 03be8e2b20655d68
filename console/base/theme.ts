/**
 * The light and the dark theme, as the system requests or somebody has chosen. Their colours are in `styles/theme.css`
 * and `styles/dark.css`.
 */
import { element, html } from "./dom.ts";
import { withStorage } from "./storage.ts";

const names = { system: "System", light: "Light", dark: "Dark" } as const;

type Theme = keyof typeof names;

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Where the browser keeps the choice. */
const key = "network-capabilities theme";

const listeners = new Set<() => void>();
let theme: Theme = "system";
/** Whether the page is being printed: paper is light. */
let isOnPaper = false;

/** Whether the page is dark. */
export function isDark(): boolean {
  return !isOnPaper && (theme === "system" ? dark.matches : theme === "dark");
}

/** Calls the listener whenever the theme changes. */
export function onThemeChange(listener: () => void): void {
  listeners.add(listener);
}

/** Shows the choice of a theme in the header, and applies the one that was chosen before. */
export function followTheme(): void {
  const field = html(
    "select",
    { "aria-label": "Theme", title: "Theme" },
    ...Object.entries(names).map(([value, name]) => html("option", { value }, name)),
  );
  const apply = () => {
    const media = { system: "screen and (prefers-color-scheme: dark)", light: "not all", dark: "screen" };
    element<HTMLLinkElement>("dark-style").media = media[isOnPaper ? "light" : theme];
    for (const listener of listeners) listener();
  };
  field.addEventListener("change", () => {
    theme = field.value as Theme;
    withStorage("localStorage", (storage) =>
      theme === "system" ? storage.removeItem(key) : storage.setItem(key, theme),
    );
    apply();
  });
  dark.addEventListener("change", apply);
  const print = (isPrinted: boolean) => () => {
    isOnPaper = isPrinted;
    apply();
  };
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
  const kept = withStorage("localStorage", (storage) => storage.getItem(key));
  if (kept === "light" || kept === "dark") theme = kept;
  field.value = theme;
  element("theme").replaceChildren(field);
  apply();
}

/** Colours of the current theme, as in CSS. The two colours of patterns are `#rrggbbaa`. */
export type ThemeColours = ReturnType<typeof themeColours>;

/** Reads the colours that the map uses. */
export function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    water: colour("map-water"),
    land: colour("map-land"),
    border: colour("map-border"),
    coverage: colour("map-coverage"),
    outside: colour("map-outside"),
    park: colour("map-park"),
    open: colour("map-open"),
    label: colour("map-label"),
    riverLabel: colour("map-river-label"),
    parkLabel: colour("map-park-label"),
    accent: colour("accent"),
    text: colour("text"),
    patternGround: colour("pattern-ground"),
    patternMark: colour("pattern-mark"),
  } as const;
}
