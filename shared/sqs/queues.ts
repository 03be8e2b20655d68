/** The time-out of a worker. It may send hundreds of megabytes to a slow sink. */
export const workerSeconds = 300;

/**
 * The visibility time-out. Lambda requires that it is not shorter than the worker's time-out. When it ends, the lease
 * of a crashed worker has ended, too.
 */
export const visibilitySeconds = 360;

/** How long SQS keeps a message: as long as it can. */
export const retentionDays = 14;

/** Messages in an invocation: each may take all of the function's time. */
export const batchSize = 1;

interface QueueDescription {
  /** The queue for messages that were received more often than `maxReceiveCount`. */
  readonly deadLetters?: { readonly queue: string; readonly maxReceiveCount: number };
}

/**
 * Every queue, described once. Dead-letter queues precede the queues that use them, because the stack creates them in
 * order.
 */
export const queues = {
  /** The dead-letter queue: messages that name no job, for manual action. */
  "density-jobs-parked": {},
  /**
   * Population densities to be delivered to sinks. A message holds the id of a job and nothing else. It is received for
   * each attempt, and whenever a waiting job asks for a permit, and is replaced long before it reaches
   * `maxReceiveCount`. Attempts are counted in the job.
   */
  "density-jobs": { deadLetters: { queue: "density-jobs-parked", maxReceiveCount: 1_000 } },
} as const satisfies Record<string, QueueDescription>;

/** The name of a queue in this project; the deployed address is in the environment. */
export type QueueName = keyof typeof queues;

/** A queue's description, with its optional members visible to the type checker. */
export function queueDescription(queue: QueueName): {
  readonly deadLetters?: { readonly queue: QueueName; readonly maxReceiveCount: number };
} {
  return queues[queue];
}

/** The environment variable that holds the deployed address of a queue. */
export function queueVariable(queue: QueueName): string {
  return `QUEUE_${queue.toUpperCase().replaceAll("-", "_")}`;
}
