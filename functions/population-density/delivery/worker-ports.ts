import { setting } from "../../../shared/environment.ts";
import { MAX_WORKERS } from "../../../shared/variables/max-workers.ts";
import { SINK_RETRY_SECONDS } from "../../../shared/variables/sink-retry-seconds.ts";
import { jobStore } from "./job-store.ts";
import { permitStore } from "./permit-store.ts";
import type { WorkerPorts } from "./ports.ts";
import { sinks } from "./send.ts";
import { sharedPorts } from "./service-ports.ts";

/** The ports of a worker, which never sends to the queue that it consumes. */
export function workerPorts(): WorkerPorts {
  return {
    ...sharedPorts,
    jobs: jobStore,
    permits: permitStore,
    sinks,
    schedule: setting(SINK_RETRY_SECONDS),
    workers: setting(MAX_WORKERS),
  };
}
