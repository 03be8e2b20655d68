import { type DensityQuery, parseDensityRequest } from "../../../functions/population-density/query/parse.ts";

export const now = new Date("2026-11-21T10:30:00Z");

export const boundary = [
  { latitude: 45.754114, longitude: 4.860374 },
  { latitude: 45.753845, longitude: 4.863185 },
  { latitude: 45.75249, longitude: 4.861876 },
  { latitude: 45.751224, longitude: 4.861125 },
  { latitude: 45.751442, longitude: 4.859827 },
];

/** A request for nine cells in two hours. */
export const asked = {
  area: { areaType: "POLYGON", boundary },
  startTime: "2026-11-21T11:25:00Z",
  endTime: "2026-11-21T12:45:00Z",
  precision: 7,
};

/** The query of that request with some changes. */
export function queryOf(changes: Partial<typeof asked>): DensityQuery {
  const query = parseDensityRequest({ ...asked, ...changes }, now);
  if ("code" in query) throw new Error(query.code);
  return query;
}
