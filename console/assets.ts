/** Hashed names of the assets that are loaded on demand; `tools/build-console.ts` sets them. */
declare const assetNames: Readonly<
  Record<"mapShared" | "mapWorker" | "outlines" | "places" | "icon" | "licences", string>
>;

/** The URL of an asset. */
export function assetUrl(name: keyof typeof assetNames): string {
  return new URL(`assets/${assetNames[name]}`, document.baseURI).href;
}
