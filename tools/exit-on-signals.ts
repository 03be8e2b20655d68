const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Ends the program at the signals of a closed terminal, of Ctrl-C and of `kill` as programs end that leave nothing
 * behind: what is to be removed at the exit is removed. A signal may come twice, as npm passes on what a terminal
 * has sent to both; a listener that stays keeps the second from ending the program half-way.
 * @param exit what is done instead of exiting with the code of the signal.
 */
export function exitOnSignals(exit: (code: number) => void = (code) => process.exit(code)): void {
  for (const signal of signals) process.on(signal, () => exit(codes[signal]));
}
