import { Unavailable } from "../errors.ts";
import type { Table } from "../table.ts";
import { Breaker } from "./breaker.ts";
import { callWithinDeadline, type DatabaseCall, tryDatabase, Unanswered } from "./database-client.ts";

/** What this process knows of whether a table answers. */
interface Silence {
  readonly breaker: Breaker;
  /** Settled when the last call has ended that tried whether the table answers again. */
  tried?: Promise<unknown>;
}

const silences = new Map<string, Silence>();

function silenceOf({ name }: Pick<Table, "name">): Silence {
  const known = silences.get(name) ?? { breaker: new Breaker(() => performance.now(), Math.random) };
  silences.set(name, known);
  return known;
}

/**
 * The way of functions that answer callers: a table that does not answer is not called for about a second, so that
 * requests which need it are refused at once and keep no execution busy (decision 0004). Calls of the same request wait
 * for one that tries.
 * Each table has a breaker of its own: the answers of another, which a request asks as well, would close it.
 */
export const callUnlessSilent: DatabaseCall = async (run, table) => {
  const silence = silenceOf(table);
  if (!silence.breaker.begin()) {
    await silence.tried;
    if (!silence.breaker.begin()) throw new Unavailable("DynamoDB", `${table.name} has not answered`);
  }
  const { isTrying } = silence.breaker;
  const call = isTrying ? tryDatabase(run) : callWithinDeadline(run);
  const ended = call.then(
    () => silence.breaker.end(true),
    (error) => silence.breaker.end(!(error instanceof Unanswered)),
  );
  if (isTrying) silence.tried = ended;
  await ended;
  return await call;
};
