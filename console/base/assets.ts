/** Hashed names of the assets that are loaded on demand; `tools/build-console.ts` sets them. */
declare const assetNames: Readonly<
  Record<"mapShared" | "mapWorker" | "outlines" | "places" | "pieces" | "icon", string>
>;

/** The URL of an asset. */
export function assetUrl(name: keyof typeof assetNames): string {
  return urlOfAsset(assetNames[name]);
}

/** The URL of an asset by its name with the hash, as another asset has it. */
export function urlOfAsset(name: string): string {
  return new URL(`assets/${name}`, document.baseURI).href;
}
