import { Worker } from "node:worker_threads";
import type {
  LinesToParse,
  ParsedLines,
} from "../../../functions/population-density/import/rows/parse-lines.ts";
import type { Parser } from "../../../functions/population-density/import/rows/read-rows.ts";

/** A parser in threads of its own. */
export interface ParserThreads extends Parser {
  /** Ends the threads, also in the midst of their work. */
  readonly close: () => Promise<void>;
}

/** Chunks that wait at each thread after the one that it parses, so that it goes on while this one writes rows. */
const chunksWaiting = 4;

/**
 * Starts threads that parse lines, in memory that they share with this one: after a transfer of memory, V8 checks each
 * access to any array whether its memory has gone, which makes parsing a sixth slower, and all else too.
 */
export function startParserThreads(count: number): ParserThreads {
  const threads = Array.from({ length: count }, () => new ParserThread());
  let next = 0;
  return {
    atOnce: count * (1 + chunksWaiting),
    parse: (lines) => (threads[next++ % count] as ParserThread).parse(lines),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

interface Waiting {
  readonly resolve: (parsed: ParsedLines) => void;
  readonly reject: (error: Error) => void;
}

/** One thread, which answers in the order of the calls. */
class ParserThread {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  /** Why it parses no more. */
  #ended: Error | undefined;

  constructor() {
    // Without the arguments of this process, which may be those of a test runner.
    this.#worker = new Worker(new URL("./parse-thread.ts", import.meta.url), { execArgv: [] });
    this.#worker.on("message", (parsed: ParsedLines) => this.#waiting.shift()?.resolve(parsed));
    this.#worker.on("error", (error: Error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("a thread that parses has ended")));
  }

  /** Rejects once the thread has ended. */
  parse(lines: LinesToParse): Promise<ParsedLines> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(lines);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}
