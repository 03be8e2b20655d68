import { setTimeout as wait } from "node:timers/promises";

/** Milliseconds by which each further try may wait longer: writers that met once do not meet again. */
const spreadMilliseconds = 10;

/**
 * Repeats what ends with a conditional write while another writer comes before it.
 * @param tries at most, the first included.
 * @param write gives undefined if what it had read was changed meanwhile.
 * @returns undefined if it was changed each time.
 */
export async function whileChanged<Result>(
  tries: number,
  write: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  for (let tried = 1; ; tried++) {
    const result = await write();
    if (result !== undefined || tried === tries) return result;
    await wait(spreadMilliseconds * tried * Math.random());
  }
}
