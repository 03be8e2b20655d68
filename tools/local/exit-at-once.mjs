/**
 * Exits with 0 on Ctrl-C and `kill` until `start.ts` handles signals. It is loaded before the TypeScript loader, which
 * takes a while.
 */
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
