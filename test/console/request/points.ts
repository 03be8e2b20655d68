/** A valid area near Lyon. */
export const triangle = [
  { latitude: 45.7, longitude: 4.8 },
  { latitude: 45.71, longitude: 4.82 },
  { latitude: 45.69, longitude: 4.83 },
] as const;

/** Limits of a polygon, as the demo data have them. */
export const limits = { minPoints: 3, maxPoints: 15 };
