import type { Map as MapLibreMap } from "maplibre-gl";

/** What throws while the map has no style. */
const ofStyle: ReadonlySet<PropertyKey> = new Set<keyof MapLibreMap>([
  "addImage",
  "addLayer",
  "addSource",
  "getLayer",
  "getSource",
  "hasImage",
  "isSourceLoaded",
  "redraw",
  "removeLayer",
  "removeSource",
  "setFeatureState",
  "setLayerZoomRange",
  "setLayoutProperty",
  "setPaintProperty",
  "updateImage",
]);

/**
 * The map, of which changes have no effect between the loss of its WebGL context, as phones take it from pages in the
 * background, and its return.
 * @param onRestored is called when changes have effect again: those made meanwhile, and the states of features, are lost
 */
export function whileDrawn(map: MapLibreMap, onRestored: () => void): MapLibreMap {
  let isLost = false;
  map.on("webglcontextlost", () => {
    isLost = true;
  });
  map.on("webglcontextrestored", () => {
    map.once("style.load", () => {
      isLost = false;
      onRestored();
    });
  });
  return new Proxy(map, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return isLost && ofStyle.has(name) ? () => undefined : member.bind(target);
    },
  });
}
