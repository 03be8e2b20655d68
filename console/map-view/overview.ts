/** A small map of the part of the world that has the covered regions. */
import { svg } from "../base/dom.ts";
import type { Box } from "../data/area.ts";
import { boxOfRing, boxRing, type Position } from "../data/outlines.ts";
import { landRings } from "../map/detail.ts";

const [width, height] = [300, 170];

/** Space at both sides together, for the names of the regions. */
const [marginX, marginY] = [80, 40];

/** A region on the map. */
interface Marked {
  readonly name: string;
  readonly squareKilometres: number;
  readonly box: Box;
}

/** Creates the map; the land appears once it is loaded. @param onRegion is called with the box of a region that is chosen */
export function overview(regions: readonly Marked[], onRegion: (box: Box) => void): SVGElement {
  const place = projection(regions.map(({ box }) => box));
  const mark = ({ name, squareKilometres, box }: Marked) => {
    const [cx, cy] = place([(box.west + box.east) / 2, (box.south + box.north) / 2]);
    return svg(
      "g",
      { click: () => onRegion(box) },
      svg("circle", { cx, cy, r: 4 + Math.min(8, Math.sqrt(squareKilometres) / 20) }),
      svg("text", { x: cx, y: cy - 10, "text-anchor": "middle" }, name),
    );
  };
  const land = svg("path", { class: "land" });
  void landRings().then((rings) => land.setAttribute("d", rings.map((ring) => pathOf(ring, place)).join("")));
  // Each region is in a list, too.
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "overview", "aria-hidden": "true" },
    land,
    ...regions.map(mark),
  );
}

type Projection = (position: Position) => Position;

/** Where positions are, so that all boxes are on the map. */
function projection(boxes: readonly Box[]): Projection {
  const { west, south, east, north } = boxOfRing(boxes.flatMap(boxRing));
  const stretch = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min(
    (width - marginX) / Math.max(2, (east - west) * stretch),
    (height - marginY) / Math.max(2, north - south),
  );
  return ([longitude, latitude]) => [
    width / 2 + (longitude - (west + east) / 2) * stretch * scale,
    height / 2 - (latitude - (south + north) / 2) * scale,
  ];
}

/** A ring in whole pixels, each once; nothing for one that is beyond the map. */
function pathOf(ring: readonly Position[], place: Projection): string {
  const places = ring.map((position) => place(position).map(Math.round));
  const isOutside = (axis: number, size: number) =>
    places.every((pixel) => (pixel[axis] ?? 0) < 0) || places.every((pixel) => (pixel[axis] ?? 0) > size);
  if (isOutside(0, width) || isOutside(1, height)) return "";
  const pixels = places.map((pixel) => pixel.join(" "));
  const points = pixels.filter((point, index) => point !== pixels[index - 1]);
  return points.length < 3 ? "" : `M${points.join("L")}Z`;
}
