import { awslambda } from "../../local/lambda/response-stream.mjs";

// Prints the milliseconds that the first import of a module takes: node cold-import.mjs <file URL>
const [, , module] = process.argv;
// Lambda's runtime has it before a function is loaded.
globalThis.awslambda = awslambda;
const started = performance.now();
await import(module);
const milliseconds = performance.now() - started;
console.log(milliseconds);
