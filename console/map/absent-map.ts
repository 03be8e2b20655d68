import { html } from "../base/dom.ts";
import type { DensityMap } from "./density-map.ts";

/** Whether this browser draws with WebGL: remote desktops and machines without a graphics driver may not. */
export function hasWebGl(): boolean {
  const canvas = document.createElement("canvas");
  return (canvas.getContext("webgl2") ?? canvas.getContext("webgl")) !== null;
}

/** Says in the map's place that there is none. Everything that does not need it works without. */
export function absentMap(container: HTMLElement): DensityMap {
  document.body.classList.add("has-no-map");
  container.replaceChildren(
    html(
      "p",
      { class: "message" },
      "This browser cannot draw the map, as it has no WebGL. All numbers, hours, the densest cells and downloads are " +
        "here without it.",
    ),
  );
  const nothing = () => undefined;
  return {
    library: undefined,
    cells: {
      show: nothing,
      showHour: nothing,
      hideEdges: nothing,
      select: nothing,
      drawn: async () => undefined,
    },
    drawBase: nothing,
    showCoverage: nothing,
    showDetail: nothing,
    showAreas: nothing,
    showDraft: nothing,
    moveToBox: nothing,
    moveToCoverage: nothing,
    onHover: nothing,
    onRestored: nothing,
    onScreen: () => ({ left: 0, top: 0, width: 0, height: 0 }),
  };
}
