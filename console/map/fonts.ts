/** Without the URL of glyphs, MapLibre draws letters with fonts of the system; the first name sets their style. */
export const [regular, bold, italic] = [
  { style: "Regular", size: 11.5 },
  { style: "Semibold", size: 12.5 },
  { style: "Italic", size: 12 },
].map(({ style, size }) => ({
  "text-font": [style, "system-ui", "DejaVu Sans", "sans-serif"],
  "text-size": size,
}));
