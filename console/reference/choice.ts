/** A value that several parts of the page show and set. */
export interface Choice<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  /** Calls the listener now, and whenever the value is set. */
  readonly onChange: (listener: (value: Value) => void) => void;
}

/** Creates a choice. */
export function choice<Value>(initial: Value): Choice<Value> {
  let current = initial;
  const listeners: ((value: Value) => void)[] = [];
  return {
    get: () => current,
    set: (value) => {
      current = value;
      for (const listener of listeners) listener(value);
    },
    onChange: (listener) => {
      listeners.push(listener);
      listener(current);
    },
  };
}
