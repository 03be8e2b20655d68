/** The map as a picture, with its place, its hour, what its colours and patterns mean, and its sources. */
import maplibregl, { type Map as MapLibreMap } from "maplibre-gl";
import { saveFile } from "../base/dom.ts";

/** The space around the parts of the strip below the map, the height of a line, and the width of a colour, in CSS pixels. */
const [gap, lineHeight, side] = [14, 20, 26];

/** The height of the colours with their title and bounds. */
const coloursHeight = 58;

/** The width of a swatch with the space next to it. */
const swatchWidth = 32;

interface Picture {
  readonly name: string;
  /** What the ground is called. */
  readonly place: string;
  /** Who counted, and whose the ground is: sentences. */
  readonly sources: string;
}

/** A part of the strip, drawn from its upper left corner. */
interface Part {
  readonly height: number;
  readonly draw: () => void;
}

type Line = readonly [font: string, text: string];

/** The map as it is on view, with twice the pixels of a page at least, as far as the browser's graphics go. */
export function drawnMap(map: MapLibreMap): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  map.setPixelRatio(Math.max(2, devicePixelRatio));
  // What is drawn can be read only before the browser shows it. Colours that change are at their end later.
  map.redraw();
  maplibregl.setNow(maplibregl.now() + 10_000);
  map.redraw();
  maplibregl.restoreNow();
  const drawn = map.getCanvas();
  [picture.width, picture.height] = [drawn.width, drawn.height];
  picture.getContext("2d")?.drawImage(drawn, 0, 0);
  // Without a ratio of its own, the map follows the screen again; MapLibre's types do not say so.
  map.setPixelRatio(undefined as unknown as number);
  return picture;
}

/** Saves the map as it is on the screen as a PNG file. */
export function savePicture(map: MapLibreMap, { name, place, sources }: Picture): void {
  const drawn = drawnMap(map);
  const { clientWidth: width, clientHeight } = map.getCanvas();
  const ratio = drawn.width / width;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (context === null) return;
  const style = getComputedStyle(document.documentElement);
  const parts = partsOf(context, width, place, sources);
  const height = parts.reduce((sum, part) => sum + part.height, 2 * gap);
  // This clears the canvas and its font.
  [canvas.width, canvas.height] = [drawn.width, drawn.height + Math.ceil(height * ratio)];
  context.drawImage(drawn, 0, 0);
  context.scale(ratio, ratio);
  drawScaleBar(context, map);
  context.translate(0, clientHeight);
  context.fillStyle = style.getPropertyValue("--card");
  context.fillRect(0, 0, width, height + 1);
  context.translate(gap, gap);
  for (const part of parts) {
    context.save();
    context.fillStyle = style.getPropertyValue("--text");
    part.draw();
    context.restore();
    context.translate(0, part.height);
  }
  canvas.toBlob((picture) => picture !== null && saveFile(name, picture), "image/png");
}

/** Place, hour and people with the colours at their right or, on a phone, below them; then patterns and sources. */
function partsOf(context: CanvasRenderingContext2D, width: number, place: string, sources: string): Part[] {
  const { fontFamily } = getComputedStyle(document.documentElement);
  const [bold, regular] = [`600 14px ${fontFamily}`, `12px ${fontFamily}`];
  const textIn = (selector: string) => document.querySelector(`#timeline ${selector}`)?.textContent ?? "";
  const hour = document.querySelector("#timeline .hour")?.parentElement?.textContent ?? "";
  const colours = [...document.querySelectorAll<HTMLElement>("#legend .ramp li")];
  const coloursWidth = colours.length === 1 ? 6 * side : colours.length * side;
  const isWide = width > 640;
  const all = width - 2 * gap;
  const texts: readonly Line[] = [
    [bold, `${place} · ${hour}`],
    [bold, [textIn(".people"), textIn(".mean")].filter((text) => text !== "").join(" · ")],
    [regular, [textIn(".ground").trim(), textIn(".basis")].filter((text) => text !== "").join(" · ")],
  ];
  const lines = linesPart(context, texts, isWide ? all - coloursWidth - gap : all);
  const ramp: Part = {
    height: coloursHeight,
    draw: () => {
      context.font = regular;
      drawColours(context, colours, coloursWidth / colours.length);
    },
  };
  const beside: Part = {
    height: Math.max(lines.height, coloursHeight),
    draw: () => {
      lines.draw();
      context.translate(all - coloursWidth, 0);
      ramp.draw();
    },
  };
  const explained = symbolsPart(context, regular, all);
  return [...(isWide ? [beside] : [lines, ramp]), explained, linesPart(context, [[regular, sources]], all)];
}

/** Texts, wrapped where there is no room. */
function linesPart(context: CanvasRenderingContext2D, texts: readonly Line[], room: number): Part {
  const lines = texts.flatMap(([font, text]) =>
    wrapped(context, font, text, room).map((line) => [font, line] as const),
  );
  const draw = () => {
    for (const [index, [font, line]] of lines.entries()) {
      context.font = font;
      context.fillText(line, 0, lineHeight * (index + 0.7));
    }
  };
  return { height: lines.length * lineHeight, draw };
}

/** A text in lines that are as wide as there is room. */
function wrapped(context: CanvasRenderingContext2D, font: string, text: string, room: number): string[] {
  context.font = font;
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && context.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The patterns and the lines of the legend, each with what it means, in rows. */
function symbolsPart(context: CanvasRenderingContext2D, font: string, room: number): Part {
  context.font = font;
  let [left, row] = [0, 0];
  const placed = [...document.querySelectorAll<HTMLElement>("#legend .symbols li")].map((item) => {
    const width = swatchWidth + context.measureText(item.textContent ?? "").width + gap;
    if (left > 0 && left + width > room) [left, row] = [0, row + 1];
    const at = { item, x: left, y: row * lineHeight };
    left += width;
    return at;
  });
  const draw = () => {
    context.font = font;
    const text = context.fillStyle;
    for (const { item, x, y } of placed) {
      const pattern = item.querySelector("canvas");
      const line = item.querySelector(".line-swatch");
      if (pattern !== null) context.drawImage(pattern, x, y + 2, 24, 16);
      else if (line !== null) {
        const { borderTopColor, borderTopStyle } = getComputedStyle(line);
        const lengths = borderTopStyle === "dashed" ? [0, 9, 18] : [0, 8, 16];
        context.fillStyle = borderTopColor;
        for (const start of lengths)
          context.fillRect(x + start, y + 9, borderTopStyle === "dashed" ? 6 : 8, 2);
        context.fillStyle = text;
      }
      context.fillText(item.textContent ?? "", x + swatchWidth, y + lineHeight * 0.7);
    }
  };
  return { height: (row + 1) * lineHeight + gap / 2, draw };
}

/** The scale bar of the map, at its lower left; a tilted map has another scale in each line. */
function drawScaleBar(context: CanvasRenderingContext2D, map: MapLibreMap): void {
  const bar = map.getContainer().querySelector<HTMLElement>(".maplibregl-ctrl-scale");
  if (bar === null || map.getPitch() > 0) return;
  const [left, bottom, width] = [gap, map.getCanvas().clientHeight - gap, bar.offsetWidth];
  context.save();
  context.fillStyle = "#ffffffd0";
  context.fillRect(left, bottom - lineHeight, width, lineHeight);
  context.fillStyle = "#222222";
  context.fillRect(left, bottom - 2, width, 2);
  for (const end of [left, left + width - 2]) context.fillRect(end, bottom - 8, 2, 8);
  context.font = `11px ${getComputedStyle(bar).fontFamily}`;
  context.fillText(bar.textContent ?? "", left + 4, bottom - 9);
  context.restore();
}

/** The colours of the legend below its title, with their bounds. */
function drawColours(
  context: CanvasRenderingContext2D,
  items: readonly HTMLElement[],
  itemWidth: number,
): void {
  const text = context.fillStyle;
  context.fillText(document.querySelector("#legend h2")?.textContent ?? "", 0, 12);
  for (const [index, item] of items.entries()) {
    const left = itemWidth * index;
    context.fillStyle = item.querySelector<HTMLElement>(".colour")?.style.backgroundColor ?? "none";
    context.fillRect(left, 20, itemWidth, 14);
  }
  context.fillStyle = text;
  context.textAlign = "center";
  for (const [index, item] of items.entries()) {
    for (const label of item.querySelectorAll(".bound")) {
      const isInMiddle = label.matches(".zero, .only");
      context.fillText(label.textContent ?? "", itemWidth * (index + (isInMiddle ? 0.5 : 1)), 50);
      if (label.matches(".zero")) context.fillRect(itemWidth * (index + 0.5) - 0.75, 20, 1.5, 18);
    }
  }
}
