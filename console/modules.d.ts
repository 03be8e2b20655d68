/** `tools/build-console.ts` bundles the style sheets that the page's script imports. */
declare module "*.css";

/** Pictures are in modules of their own, as addresses that have all of their bytes. */
declare module "*.webp" {
  const address: string;
  export default address;
}
