/** Whether an area has another time zone than the data. */

import { counted } from "../base/numbers.ts";
import { type Area, middleLatitude } from "../data/area.ts";
import { areaRing, boxOfRing, within180 } from "../data/outlines.ts";

/** Tells the time zone of a place, such as `Pacific/Fiji`. */
type LookUp = (latitude: number, longitude: number) => string;

/** The sentence about the first area whose clocks differ from those of the data; undefined where none do. */
export function zoneText(
  areas: readonly Area[],
  moment: Date,
  dataZone: string,
  lookUp: LookUp,
): string | undefined {
  for (const area of areas) {
    const zone = lookUp(middleLatitude(area), middleLongitude(area));
    const minutes = offsetOf(zone, moment) - offsetOf(dataZone, moment);
    // Zones of the sea have no clocks.
    if (minutes === 0 || zone.startsWith("Etc/")) continue;
    const where = minutes > 0 ? "ahead of" : "behind";
    return (
      `The data follow the time of ${dataZone}, typical days, too. Clocks here are ${lengthOf(Math.abs(minutes))} ` +
      `${where} it (${zone}).`
    );
  }
  return undefined;
}

function middleLongitude(area: Area): number {
  const { west, east } = boxOfRing(areaRing(area));
  return within180((west + east) / 2);
}

/** How far the clocks of a time zone are ahead of UTC, in minutes. */
function offsetOf(timeZone: string, moment: Date): number {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(moment);
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d+):(\d+)/.exec(name) ?? [];
  return (sign === "-" ? -1 : 1) * (60 * Number(hours) + Number(minutes));
}

/** `11 hours`, `5 hours 30 minutes`, `15 minutes`. */
function lengthOf(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const parts = [hours > 0 && counted(hours, "hour"), rest > 0 && counted(rest, "minute")];
  return parts.filter((part) => part !== false).join(" ");
}
