import type { Endpoint } from "../../shared/endpoint.ts";

/** What each area is about, by the first segment of its endpoints' ids; the tags of the OpenAPI document. */
const areas: Readonly<Record<string, string>> = {
  profile: "Logins and the access tokens they give.",
  "qos-profiles": "Named sets of network quality parameters, and the devices they are available to.",
  "population-density": "Estimates of how many people are in an area, by cell and hour.",
  "number-recycling": "Whether a phone number has changed hands.",
  "device-identifier": "The identifiers of the device a subscriber uses.",
  keys: "The public keys that verify access tokens.",
  openapi: "What the service offers, for programs to read.",
};

/** The area an endpoint belongs to. */
export function areaOf({ id }: Endpoint): string {
  return id.slice(0, id.indexOf("/"));
}

/**
 * The areas of the endpoints, each once, in the order of their first endpoints.
 * @throws {Error} when an area has no description in this file.
 */
export function areasOf(endpoints: readonly Endpoint[]): { name: string; description: string }[] {
  return [...new Set(endpoints.map(areaOf))].map((name) => {
    const description = areas[name];
    if (description === undefined) throw new Error(`area ${name}: describe it in tools/docs/areas.ts`);
    return { name, description };
  });
}
