/** The first import of programs in TypeScript, which an older Node.js would refuse with "Unknown file extension". */
const [major] = process.versions.node.split(".").map(Number);
if (major < 24) {
  console.error(
    `Node.js 24 or later is needed, and this is ${process.version}. On Linux (x64 and arm64, with glibc) npm ci ` +
      "installs it for npm's scripts and npx.",
  );
  process.exit(1);
}
// Not imported above: an older Node.js has no such cache.
const { keepCompiled } = await import("./compile-cache.mjs");
keepCompiled();
