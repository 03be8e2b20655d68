/** The map below the cells. */
import type { LayerSpecification, Map as MapLibreMap, StyleSpecification } from "maplibre-gl";
import type { ThemeColours } from "../base/theme.ts";
import { archiveLayers } from "./archive-layers.ts";
import { baseLayers } from "./base-layers.ts";
import { baseStyle } from "./base-style.ts";
import { offerMapStyle, showMapStyleProblem } from "./map-style-note.ts";
import { isArchive, operatorStyle } from "./operator-style.ts";

/** How long the operator's host may take. */
const patienceMilliseconds = 10_000;

/** The base map, or the operator's own map. */
export interface Ground {
  readonly style: StyleSpecification;
  /** Whether it is the base map, which is hidden at first, and whose sources the page names. */
  readonly isBase: boolean;
  /** The layers that follow the theme of the page. */
  readonly layersFor: (colours: ThemeColours) => readonly LayerSpecification[];
  /** Says upon the map what may be missed on it. */
  readonly addNote: (map: MapLibreMap) => void;
}

/** Loads the operator's map or, without one and if it cannot be loaded, the base map. */
export async function loadGround(mapStyle: string): Promise<Ground> {
  if (mapStyle === "") return baseGround(offerMapStyle);
  try {
    const style = await Promise.race([operatorStyle(mapStyle), deadline()]);
    const layersFor = isArchive(mapStyle) ? archiveLayers : () => [];
    return { style, isBase: false, layersFor, addNote: () => undefined };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return groundInstead(error);
  }
}

/** The base map instead of the operator's. @param problem what is wrong with that one. */
export function groundInstead(problem: Error): Ground {
  return baseGround(() => showMapStyleProblem(problem));
}

async function deadline(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, patienceMilliseconds));
  throw new Error(`Its host did not answer within ${patienceMilliseconds / 1_000} seconds.`);
}

function baseGround(addNote: Ground["addNote"]): Ground {
  return { style: baseStyle(), isBase: true, layersFor: baseLayers, addNote };
}
