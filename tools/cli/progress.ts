/** How far a command is. */
export interface Progress {
  readonly done: number;
  /** Undefined while it is not known. */
  readonly all?: number | undefined;
  readonly stage: string;
  /** What has been stored, if no longer nothing: told when a signal ends the command now. */
  readonly stored?: string | undefined;
}

/** What is told of densities, which are stored day by day. */
export const storedInPart = "not all days were stored: import the same again";

/**
 * Shows on a terminal how far it is. A program that exits meanwhile, as it does on Ctrl-C, leaves the terminal as it
 * was, and says what was stored.
 * @param before what is true before progress is shown.
 */
export async function withProgress<Result>(
  run: (show: (progress: Progress) => void) => Promise<Result>,
  before = "nothing was stored",
): Promise<Result> {
  const bar = process.stderr.isTTY ? await startBar("read") : undefined;
  let stored = before;
  const end = () => {
    bar?.stop();
    process.stderr.write(`interrupted: ${stored}\n`);
  };
  process.once("exit", end);
  try {
    return await run((progress) => {
      stored = progress.stored ?? stored;
      bar?.setTotal(progress.all ?? 0);
      bar?.update(progress.done, { stage: progress.stage });
    });
  } finally {
    process.off("exit", end);
    bar?.stop();
  }
}

/** Starts a bar on standard error, which is a terminal. */
async function startBar(stage: string) {
  const { SingleBar } = await import("cli-progress");
  const bar = new SingleBar({
    format: ({ barsize = 40 }, { progress, value, total }, { stage }) => {
      if (total === 0) return `${value} ${stage}`;
      const full = Math.round(progress * barsize);
      return `${"█".repeat(full)}${"░".repeat(barsize - full)} ${Math.floor(100 * progress)} % ${stage}`;
    },
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(1, 0, { stage });
  return bar;
}
