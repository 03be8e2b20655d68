/** `tools/build-console.ts` bundles the style sheets that the page's script imports. */
declare module "*.css";
