/** Stores the messages of the embedded SQS in a folder, in LevelDB as the tables are. */
import { ClassicLevel } from "classic-level";

/**
 * Every message by its id, with its queue. For how long one is hidden is not stored: who had received it has ended with
 * the program, and whoever receives it next knows when it is due.
 */
export class KeptMessages {
  #db;
  #found;
  #changes = [];
  #written = Promise.resolve();

  /** @throws {Error} if the folder cannot be opened. */
  static async open(folder) {
    const kept = new KeptMessages();
    kept.#db = new ClassicLevel(folder, { valueEncoding: "json" });
    await kept.#db.open();
    kept.#found = await kept.#db.values().all();
    return kept;
  }

  /** Restores the stored messages of a queue, all of them visible, and stores every later change of its messages. */
  attach(queue) {
    const own = this.#found.filter(({ queueName }) => queueName === queue.name);
    for (const { message } of own.sort(
      (one, other) => one.message.sentTimestamp - other.message.sentTimestamp,
    )) {
      queue.enqueue(message);
    }

    const { enqueue, dequeue, deleteMessage, purge } = queue;
    const put = (message) => this.#put(message.messageId, { queueName: queue.name, message });
    queue.enqueue = (message) => {
      put(message);
      enqueue.call(queue, message);
    };
    queue.dequeue = (...parameters) => {
      const received = dequeue.apply(queue, parameters);
      // They count how often they were received.
      for (const { ReceiptHandle } of received) put(queue.inflightMessages.get(ReceiptHandle).message);
      return received;
    };
    queue.deleteMessage = (receiptHandle) => {
      const hidden = queue.inflightMessages.get(receiptHandle);
      if (hidden !== undefined) this.#delete(hidden.message.messageId);
      return deleteMessage.call(queue, receiptHandle);
    };
    queue.purge = () => {
      const { ready, delayed, inflight } = queue.inspectMessages();
      const all = [...ready, ...delayed, ...inflight.map(({ message }) => message)];
      for (const { messageId } of all) this.#delete(messageId);
      purge.call(queue);
    };
  }

  /** Resolves when every change so far is written, so that it survives this program. */
  async written() {
    if (this.#changes.length > 0) {
      const changes = this.#changes;
      this.#changes = [];
      this.#written = this.#written.then(() => this.#db.batch(changes));
      // LevelDB refuses every other write then: the thread ends by the error.
      this.#written.catch((error) =>
        setImmediate(() => {
          throw error;
        }),
      );
    }
    await this.#written;
  }

  #put(key, value) {
    // Cloned, because fauxqs modifies its messages.
    this.#changes.push({ type: "put", key, value: structuredClone(value) });
  }

  #delete(key) {
    this.#changes.push({ type: "del", key });
  }
}
