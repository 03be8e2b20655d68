/** The names that `tools/build-console.ts` gave the files that are loaded when they are needed. */
declare const assetNames: Readonly<
  Record<"mapWorker" | "outlines" | "referenceStyle" | "icon" | "licences", string>
>;

/** The address of an asset. */
export function assetUrl(name: keyof typeof assetNames): string {
  return new URL(`assets/${assetNames[name]}`, document.baseURI).href;
}
