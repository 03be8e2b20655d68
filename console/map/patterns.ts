/** The patterns of cells: stripes for suppressed counts, dots for no data, strokes for cells partly covered. */
import { themeColours } from "../base/theme.ts";

/** The side of a pattern's image in pixels; it is drawn at half the size. */
const side = 16;

/** Diagonal stripes, two per image; adjacent images join without a seam. */
export function hatching(): ImageData {
  return pattern((x, y) => (x + y) % (side / 2) < 2);
}

/** One dot per image. */
export function dots(): ImageData {
  return pattern((x, y) => Math.hypot(x - (side - 1) / 2, y - (side - 1) / 2) < 2.6);
}

/** Thin strokes the other way, through which the colour of the cell shows. */
export function strokes(): ImageData {
  return pattern((x, y) => (x - y + side) % side < 3, "#00000000");
}

/** Draws a pattern in the colours of the current theme. */
function pattern(isMark: (x: number, y: number) => boolean, background?: string): ImageData {
  const { patternGround, patternMark } = themeColours();
  const [ground, mark] = [bytesOf(background ?? patternGround), bytesOf(patternMark)];
  const image = new ImageData(side, side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) image.data.set(isMark(x, y) ? mark : ground, 4 * (y * side + x));
  }
  return image;
}

/** Red, green, blue and alpha of `#rrggbbaa`. */
function bytesOf(colour: string): number[] {
  return (colour.match(/[\da-f]{2}/gi) ?? []).map((digits) => Number.parseInt(digits, 16));
}

/** A pattern as a swatch of the legend. */
export function swatchOf(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [side * 3, side * 2];
  const context = canvas.getContext("2d");
  for (let x = 0; x < 3; x++) for (let y = 0; y < 2; y++) context?.putImageData(image, x * side, y * side);
  return canvas;
}
