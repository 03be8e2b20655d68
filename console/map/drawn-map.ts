import maplibregl, { type Map as MapLibreMap } from "maplibre-gl";

/** The map as it is on view, with twice the pixels of a page at least, as far as the browser's graphics go. */
export function drawnMap(map: MapLibreMap): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  const ratio = map.getPixelRatio();
  map.setPixelRatio(Math.max(2, devicePixelRatio));
  // What is drawn can be read only before the browser shows it. Colours that change are at their end later.
  map.redraw();
  maplibregl.setNow(maplibregl.now() + 10_000);
  map.redraw();
  maplibregl.restoreNow();
  const drawn = map.getCanvas();
  [picture.width, picture.height] = [drawn.width, drawn.height];
  picture.getContext("2d")?.drawImage(drawn, 0, 0);
  map.setPixelRatio(ratio);
  return picture;
}
