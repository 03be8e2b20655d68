/** The operator's own map: a MapLibre style, or an archive of tiles in the scheme of Protomaps. */
import maplibregl, { type StyleSpecification } from "maplibre-gl";
import { themeColours } from "../base/theme.ts";
import { fetchWhole, jsonOf } from "../base/whole-answer.ts";
import { archiveLayers } from "./archive-layers.ts";

/** Whether an address is that of an archive of tiles, not of a style. */
export function isArchive(address: string): boolean {
  return new URL(address).pathname.endsWith(".pmtiles");
}

/**
 * Loads the operator's map.
 * @param address a MapLibre style, or a PMTiles archive.
 * @throws {Error} if it cannot be loaded. Whether a style is valid shows when a map takes it.
 */
export async function operatorStyle(address: string): Promise<StyleSpecification> {
  if (isArchive(address)) return await archiveStyle(address);
  const { ok, status, text } = await fetchWhole(address, {}, "Its host");
  if (!ok) throw new Error(`The status is ${status}.`);
  // Hosts of plain files may not call it JSON.
  const style = jsonOf(text);
  if (typeof style !== "object" || style === null) throw new Error("It is not a MapLibre style.");
  if (text.includes('"pmtiles://')) await readArchives();
  return style as StyleSpecification;
}

/** Lets MapLibre read archives of tiles, whose addresses begin with `pmtiles://`. */
async function readArchives() {
  const { PMTiles, Protocol } = await import("pmtiles");
  const protocol = new Protocol();
  maplibregl.addProtocol("pmtiles", protocol.tile);
  return { PMTiles, protocol };
}

async function archiveStyle(address: string): Promise<StyleSpecification> {
  const { PMTiles, protocol } = await readArchives();
  const archive = new PMTiles(address);
  await archive.getHeader().catch((error) => {
    if (!(error instanceof TypeError)) throw error;
    throw new Error("Its host cannot be reached, or its answer broke off.", { cause: error });
  });
  protocol.add(archive);
  return {
    version: 8,
    sources: {
      tiles: { type: "vector", url: `pmtiles://${address}`, attribution: "© OpenStreetMap contributors" },
    },
    layers: archiveLayers(themeColours()),
  };
}
