import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Lets Node.js keep what it compiles, and what it makes of TypeScript, for the next time: a start takes half as long. To
 * be called in each thread before it imports anything else. Where the folder cannot be written, nothing is kept.
 */
export function keepCompiled() {
  enableCompileCache(
    process.env.NODE_COMPILE_CACHE ||
      fileURLToPath(new URL("../node_modules/.cache/node-compile-cache", import.meta.url)),
  );
}
