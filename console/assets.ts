/** Names of the assets that are loaded when they are needed, with their hashes: set by `tools/build-console.ts`. */
declare const assetNames: Readonly<
  Record<"mapWorker" | "outlines" | "referenceStyle" | "icon" | "licences", string>
>;

/** The URL of an asset. */
export function assetUrl(name: keyof typeof assetNames): string {
  return new URL(`assets/${assetNames[name]}`, document.baseURI).href;
}
