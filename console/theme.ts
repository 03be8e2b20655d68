/** The light and the dark theme, as the system requests. The colours are in `styles/theme.css`. */
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark. */
export function isDark(): boolean {
  return dark.matches;
}

/** Calls the listener whenever the theme changes. */
export function onThemeChange(listener: () => void): void {
  dark.addEventListener("change", listener);
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
