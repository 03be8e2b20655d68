/** Reads the declarations as the project's files say them now, and posts them to the thread that started this one. */
import { parentPort, workerData } from "node:worker_threads";
import { keepCompiled } from "../../compile-cache.mjs";

keepCompiled();
const { readDeclarations } = await import("./declarations.ts");
parentPort?.postMessage(readDeclarations(workerData));
