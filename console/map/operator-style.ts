/** The operator's own map: a MapLibre style, or an archive of tiles in the scheme of Protomaps. */
import maplibregl, { type StyleSpecification } from "maplibre-gl";
import { themeColours } from "../theme.ts";

/** Loads the operator's style. @param address a MapLibre style, or a PMTiles archive if it ends in `.pmtiles`. */
export async function operatorStyle(address: string): Promise<StyleSpecification | string> {
  if (!new URL(address).pathname.endsWith(".pmtiles")) return address;
  const { Protocol } = await import("pmtiles");
  maplibregl.addProtocol("pmtiles", new Protocol().tile);
  return archiveStyle(address);
}

/** https://docs.protomaps.com/basemaps/layers */
function archiveStyle(address: string): StyleSpecification {
  const { water, land, border } = themeColours();
  const source = "tiles";
  return {
    version: 8,
    sources: {
      tiles: { type: "vector", url: `pmtiles://${address}`, attribution: "© OpenStreetMap contributors" },
    },
    layers: [
      { id: "background", type: "background", paint: { "background-color": water } },
      { id: "earth", type: "fill", source, "source-layer": "earth", paint: { "fill-color": land } },
      { id: "water", type: "fill", source, "source-layer": "water", paint: { "fill-color": water } },
      {
        id: "buildings",
        type: "fill",
        source,
        "source-layer": "buildings",
        minzoom: 13,
        paint: { "fill-color": border, "fill-opacity": 0.4 },
      },
      {
        id: "roads",
        type: "line",
        source,
        "source-layer": "roads",
        paint: {
          "line-color": border,
          "line-width": ["interpolate", ["exponential", 1.6], ["zoom"], 6, 0.3, 12, 1.2, 18, 12],
        },
      },
      {
        id: "boundaries",
        type: "line",
        source,
        "source-layer": "boundaries",
        paint: { "line-color": border, "line-dasharray": [3, 2] },
      },
    ],
  };
}
