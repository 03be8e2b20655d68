import type { ResourceLimits } from "node:worker_threads";

/**
 * The limit of what a thread keeps for new objects. Without one V8 gives each thread 48 MB, most of which idle threads
 * keep: under the requests of `npm run bench -- throughput`, 974 MiB in all instead of 657, and a tenth fewer requests.
 * 8, 12 and 32 differ by noise.
 *
 * The main thread is limited by `npm start` itself (`package.json`): 120 MB less under the same requests.
 */
export const youngGeneration: ResourceLimits = { maxYoungGenerationSizeMb: 16 };
