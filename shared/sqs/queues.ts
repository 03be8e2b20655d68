/** How long a worker may take for its messages. It sends up to some hundred megabytes to sinks that may be slow. */
export const workerSeconds = 300;

/** Messages of a queue that are worked on at a time. */
export const maxWorkers = 10;

/**
 * How long a message is hidden once it is received. Lambda wants it not to be shorter than a worker's time; when it
 * ends, the lease of a worker that is gone has ended too.
 */
export const visibilitySeconds = 360;

interface QueueDescription {
  /** Where a message goes that was received more often. */
  readonly deadLetters?: { readonly queue: string; readonly maxReceiveCount: number };
}

/** Every queue, described once, a queue for dead letters before those that use it: the stack creates them in order. */
export const queues = {
  /** Messages that nothing can be done with; for manual action. */
  "density-jobs-parked": {},
  /**
   * Messages of jobs that were received far too often: their sinks are told that there is no answer. SQS goes on
   * counting receives in a queue for dead letters.
   */
  "density-jobs-dlq": { deadLetters: { queue: "density-jobs-parked", maxReceiveCount: 1_000 } },
  /**
   * Population densities to be delivered to a sink. A message names a job and holds nothing else; the same message is
   * received for each attempt, and now and then while the job waits. Attempts are counted in the job.
   */
  "density-jobs": { deadLetters: { queue: "density-jobs-dlq", maxReceiveCount: 500 } },
} as const satisfies Record<string, QueueDescription>;

/** The name of a queue in this project; the deployed address is in the environment. */
export type QueueName = keyof typeof queues;

/** A queue's description with its optional members visible whatever the queue. */
export function queueDescription(queue: QueueName): {
  readonly deadLetters?: { readonly queue: QueueName; readonly maxReceiveCount: number };
} {
  return queues[queue];
}

/** The environment variable that holds the deployed address of a queue. */
export function queueVariable(queue: QueueName): string {
  return `QUEUE_${queue.toUpperCase().replaceAll("-", "_")}`;
}
