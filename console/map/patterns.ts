/** The patterns of cells without a number: stripes for too few people to publish, dots for no data. */

/** The side of a pattern's image; it is drawn at half the size. */
const side = 16;

interface Colours {
  readonly ground: readonly [number, number, number, number];
  readonly mark: readonly [number, number, number, number];
}

const light: Colours = { ground: [255, 255, 255, 150], mark: [92, 102, 115, 255] };
const dark: Colours = { ground: [20, 28, 38, 150], mark: [150, 163, 178, 255] };

/** Diagonal stripes, two in each image and without a gap between images. */
export function hatching(isDark: boolean): ImageData {
  return pattern(isDark, (x, y) => (x + y) % (side / 2) < 2);
}

/** One dot in each image. */
export function dots(isDark: boolean): ImageData {
  return pattern(isDark, (x, y) => Math.hypot(x - (side - 1) / 2, y - (side - 1) / 2) < 2.6);
}

function pattern(isDark: boolean, isMark: (x: number, y: number) => boolean): ImageData {
  const { ground, mark } = isDark ? dark : light;
  const image = new ImageData(side, side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) image.data.set(isMark(x, y) ? mark : ground, 4 * (y * side + x));
  }
  return image;
}

/** A pattern as the fill of an element. */
export function swatchOf(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [side * 3, side * 2];
  const context = canvas.getContext("2d");
  for (let x = 0; x < 3; x++) for (let y = 0; y < 2; y++) context?.putImageData(image, x * side, y * side);
  return canvas;
}
