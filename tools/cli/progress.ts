/** How far a command is. */
export interface Progress {
  readonly done: number;
  /** Undefined while it is not known. */
  readonly all?: number | undefined;
  readonly stage: string;
}

/** Shows on a terminal how far it is. */
export async function withProgress<Result>(
  run: (show: (progress: Progress) => void) => Promise<Result>,
): Promise<Result> {
  if (!process.stderr.isTTY) return await run(() => undefined);
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
  bar.start(1, 0, { stage: "read" });
  try {
    return await run(({ done, all = 0, stage }) => {
      bar.setTotal(all);
      bar.update(done, { stage });
    });
  } finally {
    bar.stop();
  }
}
