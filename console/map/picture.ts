/** The map as a picture, with its place, its hour, its colours and its sources. */
import type { Map as MapLibreMap } from "maplibre-gl";
import { element, saveFile } from "../base/dom.ts";

/** The space around the parts of the strip below the map, the height of a line, and the width of a colour, in CSS pixels. */
const [gap, lineHeight, side] = [14, 20, 26];

/** The height of the colours with their title and bounds. */
const coloursHeight = 54;

interface Picture {
  readonly name: string;
  /** What the ground is called. */
  readonly place: string;
  /** Who counted. */
  readonly sources: string;
}

/** Saves the map as it is on the screen as a PNG file. */
export function savePicture(map: MapLibreMap, { name, place, sources }: Picture): void {
  // What is drawn can be read only before the browser shows it.
  map.once("render", () => {
    const drawn = map.getCanvas();
    const ratio = drawn.width / drawn.clientWidth;
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    if (context === null) return;
    const strip = stripOf(context, drawn.clientWidth, place, sources);
    // This clears the canvas and its font.
    [canvas.width, canvas.height] = [drawn.width, drawn.height + strip.height * ratio];
    context.drawImage(drawn, 0, 0);
    context.scale(ratio, ratio);
    context.translate(0, drawn.clientHeight);
    strip.draw();
    canvas.toBlob((picture) => picture !== null && saveFile(name, picture), "image/png");
  });
  map.triggerRepaint();
}

/** The strip: texts, wrapped where there is no room, and the colours at their right or, on a phone, below them. */
function stripOf(context: CanvasRenderingContext2D, width: number, place: string, sources: string) {
  const style = getComputedStyle(document.documentElement);
  const [bold, regular] = [`600 14px ${style.fontFamily}`, `12px ${style.fontFamily}`];
  const textIn = (selector: string) => document.querySelector(selector)?.textContent ?? "";
  const hour = document.querySelector("#timeline .hour")?.parentElement?.textContent ?? "";
  const named = document.querySelector(".maplibregl-ctrl-attrib-inner") ?? element("base-map-credits");
  const texts = [
    [bold, `${place} · ${hour}`],
    [regular, textIn("#timeline .total-people")],
    [regular, `${sources} · ${named.textContent ?? ""}`],
  ] as const;
  const items = [...document.querySelectorAll<HTMLElement>("#legend .ramp li")];
  const coloursWidth = items.length === 1 ? 6 * side : items.length * side;
  const isWide = width > 640;
  const room = isWide ? width - coloursWidth - 3 * gap : width - 2 * gap;
  const lines = texts.flatMap(([font, text]) =>
    wrapped(context, font, text, room).map((line) => [font, line] as const),
  );
  const textHeight = lines.length * lineHeight;
  const height = gap + (isWide ? Math.max(textHeight, coloursHeight) : textHeight + coloursHeight) + gap / 2;
  const draw = () => {
    context.fillStyle = style.getPropertyValue("--card");
    context.fillRect(0, 0, width, height);
    context.fillStyle = style.getPropertyValue("--text");
    for (const [index, [font, line]] of lines.entries()) {
      context.font = font;
      context.fillText(line, gap, gap + lineHeight * (index + 0.7));
    }
    context.font = regular;
    context.translate(isWide ? width - gap - coloursWidth : gap, gap + (isWide ? 0 : textHeight));
    drawColours(context, items, coloursWidth / items.length);
  };
  return { height, draw };
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
