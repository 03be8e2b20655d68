import { count } from "./format.ts";

/** Maximum of concurrent delivery workers. Lambda's event source mappings have a maximum concurrency of at least 2. */
export const MAX_WORKERS = { name: "MAX_WORKERS", format: () => count(2, 200) };
