/** Light and dark, as the system asks for. The colours themselves are in the style sheet. */
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark. */
export function isDark(): boolean {
  return dark.matches;
}

/** Calls back whenever the theme changes. */
export function onTheme(listener: () => void): void {
  dark.addEventListener("change", listener);
}

/** The colours of the style sheet that the map needs. */
export function themeColours(): Readonly<Record<"water" | "land" | "border" | "accent" | "text", string>> {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    water: colour("map-water"),
    land: colour("map-land"),
    border: colour("map-border"),
    accent: colour("accent"),
    text: colour("text"),
  };
}
