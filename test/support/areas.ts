import type { Corner } from "./densities.ts";

const hour = 3_600_000;

/** The polygon of the specification's example, in Lyon, where the demo data has densities. */
export const exampleBoundary: readonly Corner[] = [
  { latitude: 45.754114, longitude: 4.860374 },
  { latitude: 45.753845, longitude: 4.863185 },
  { latitude: 45.75249, longitude: 4.861876 },
  { latitude: 45.751224, longitude: 4.861125 },
  { latitude: 45.751442, longitude: 4.859827 },
];

/** A rectangle of so many degrees with its south-west corner in Lyon. */
export function rectangle(height: number, width: number): readonly Corner[] {
  const [south, west] = [45.7, 4.8];
  return [
    { latitude: south, longitude: west },
    { latitude: south + height, longitude: west },
    { latitude: south + height, longitude: west + width },
    { latitude: south, longitude: west + width },
  ];
}

/** The start of the hour that is so many hours after the current one. */
export function hourFromNow(hours: number): Date {
  return new Date((Math.floor(Date.now() / hour) + hours) * hour);
}

/** So many whole hours to come, as a request has them: they are still ahead when the current one ends during a test. */
export function hoursToCome(hours = 1): { readonly startTime: string; readonly endTime: string } {
  const start = hourFromNow(2);
  return { startTime: start.toISOString(), endTime: new Date(start.getTime() + hours * hour).toISOString() };
}
