/**
 * Ends the program with 0 on Ctrl-C and `kill`, until `start.ts` listens for signals. It is loaded before the loader of
 * TypeScript, which takes a while.
 */
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
