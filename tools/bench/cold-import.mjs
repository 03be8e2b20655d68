// Prints the milliseconds that the first import of a module takes: node cold-import.mjs <file URL>
const [, , module] = process.argv;
const started = performance.now();
await import(module);
const milliseconds = performance.now() - started;
console.log(milliseconds);
