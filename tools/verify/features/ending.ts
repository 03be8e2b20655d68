/** The scenario cannot be run: the plan, the definitions or the runner lack what it needs. */
export class CannotRun extends Error {}

/** The answer is not what a step expects. The message has no value of the answer but its status and code. */
export class Unexpected extends Error {}

/** @throws {Unexpected} unless what is expected holds. */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Unexpected(otherwise);
}

/** What the plan has. @throws {CannotRun} naming what it lacks. */
export function inPlan<Value>(value: Value | undefined, member: string): Value {
  if (value === undefined) throw new CannotRun(`the plan has no ${member}`);
  return value;
}
