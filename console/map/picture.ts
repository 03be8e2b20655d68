/** The map as a picture, with its hour, its colours and its sources. */
import type { Map as MapLibreMap } from "maplibre-gl";
import { element, saveFile } from "../dom.ts";

/** The height of the strip below the map in CSS pixels, and the space around its parts. */
const [stripHeight, gap] = [64, 14];

/** Saves the map as it is on the screen as a PNG file. @param sources who counted */
export function savePicture(map: MapLibreMap, sources: string): void {
  // What is drawn can be read only before the browser shows it.
  map.once("render", () => {
    const drawn = map.getCanvas();
    const ratio = drawn.width / drawn.clientWidth;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [drawn.width, drawn.height + stripHeight * ratio];
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.drawImage(drawn, 0, 0);
    context.scale(ratio, ratio);
    drawStrip(context, drawn.clientWidth, drawn.clientHeight, sources);
    canvas.toBlob((picture) => picture !== null && saveFile("densities.png", picture), "image/png");
  });
  map.triggerRepaint();
}

function drawStrip(context: CanvasRenderingContext2D, width: number, top: number, sources: string): void {
  const style = getComputedStyle(document.documentElement);
  context.fillStyle = style.getPropertyValue("--card");
  context.fillRect(0, top, width, stripHeight);
  context.fillStyle = style.getPropertyValue("--text");
  const font = style.fontFamily;
  context.font = `600 14px ${font}`;
  const heading = document.querySelector("#timeline .total-people")?.textContent ?? "";
  const hour = document.querySelector("#timeline .hour")?.parentElement?.textContent ?? "";
  context.fillText(`${hour} · ${heading}`, gap, top + 24);
  context.font = `12px ${font}`;
  const named = document.querySelector(".maplibregl-ctrl-attrib-inner") ?? element("base-map-credits");
  const credits = named.textContent ?? "";
  context.fillText(`${sources} · ${credits}`, gap, top + 46);
  drawColours(context, width, top);
}

/** The colours of the legend with their bounds, at the right. */
function drawColours(context: CanvasRenderingContext2D, width: number, top: number): void {
  const items = [...document.querySelectorAll<HTMLElement>("#legend .ramp li")];
  const side = 26;
  for (const [index, item] of items.entries()) {
    const left = width - gap - side * (items.length - index);
    const text = context.fillStyle;
    context.fillStyle = item.querySelector<HTMLElement>(".colour")?.style.backgroundColor ?? "none";
    context.fillRect(left, top + 12, side, 14);
    context.fillStyle = text;
    context.textAlign = "center";
    context.fillText(item.querySelector(".bound")?.textContent ?? "", left + side, top + 42);
  }
}
