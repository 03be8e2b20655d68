/** What ends a program that runs on a terminal or under a supervisor. */
const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Ends the program by an orderly exit when the terminal closes, and on Ctrl-C and `kill`, so that exit handlers remove
 * temporary files. A signal may come twice, because npm forwards what the terminal has sent to both; the listener
 * stays, so that the second one does not end the program half-way.
 * @param exit called instead of exiting with the code of the signal.
 */
export function exitOnSignals(exit: (code: number) => void = (code) => process.exit(code)): void {
  for (const signal of signals) process.on(signal, () => exit(codes[signal]));
}
