/** How long a worker may take for its messages. It sends up to some hundred megabytes to sinks that may be slow. */
export const workerSeconds = 300;

interface QueueDescription {
  /** Where a message goes that was received too often. */
  readonly deadLetters?: { readonly queue: string; readonly mostReceives: number };
}

/** Every queue, described once, a queue for dead letters before those that use it: the stack creates them in order. */
export const queues = {
  /** Jobs that neither could be done nor given up; a person looks at them. */
  "density-jobs-stuck": {},
  /** Jobs to be given up: a message of each comes from the queue of the jobs, whose receipts count here too. */
  "density-jobs-dead": { deadLetters: { queue: "density-jobs-stuck", mostReceives: 36 } },
  /**
   * Population densities to be delivered to a sink. A message names a job and holds nothing else; it is received
   * once for each attempt, and now and then while another attempt is under way.
   */
  "density-jobs": { deadLetters: { queue: "density-jobs-dead", mostReceives: 30 } },
} as const satisfies Record<string, QueueDescription>;

/** The name of a queue in this project; the deployed address is in the environment. */
export type QueueName = keyof typeof queues;

/** A queue's description with its optional members visible whatever the queue. */
export function queueDescription(queue: QueueName): {
  readonly deadLetters?: { readonly queue: QueueName; readonly mostReceives: number };
} {
  return queues[queue];
}

/** The environment variable that holds the deployed address of a queue. */
export function queueVariable(queue: QueueName): string {
  return `QUEUE_${queue.toUpperCase().replaceAll("-", "_")}`;
}
