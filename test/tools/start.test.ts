import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

/** What a newcomer types, in a process group of its own so that nothing is left behind. */
function npmStart(...args: string[]): ChildProcess {
  return spawn("npm", ["start", "--silent", "--", ...args], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, AWS_ENDPOINT_URL_DYNAMODB: "", AWS_ENDPOINT_URL_SQS: "" },
  });
}

/** How the child ended: its exit code, or the signal that ended it. */
async function endOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = await once(child, "exit");
  return code ?? signal;
}

/** Whether any member of the group that `child` leads still runs. */
function isGroupAlive(child: ChildProcess): boolean {
  try {
    return process.kill(-(child.pid as number), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

test("`npm start` prints one line when it can answer, and SIGTERM ends all of it with 0", async () => {
  const child = npmStart("--port", "0");
  const output: string[] = [];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => output.push(text));
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");
  const [, url] = /^Listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(output.join("")) ?? [];
  expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(200);

  child.kill("SIGTERM");
  expect(await endOf(child)).toBe(0);

  await expect.poll(() => isGroupAlive(child), { timeout: 10_000 }).toBe(false);
  await expect(fetch(`${url}/.well-known/jwks.json`)).rejects.toThrow();
  expect(output.join("")).toBe(`Listening on ${url}\n`);
}, 60_000);

// How far a start has come after so many milliseconds depends on the machine: before the service
// listens for signals it ends as any program does, by the signal (143), and after that with 0.
test.each([200, 1_000, 2_000, 3_000])(
  "a start that is stopped half-way, after %d ms, ends at once and leaves nothing running",
  async (delay) => {
    const child = npmStart("--port", "0");
    await new Promise((resolve) => setTimeout(resolve, delay));

    child.kill("SIGTERM");
    expect([0, 143, "SIGTERM"]).toContain(await endOf(child));

    await expect.poll(() => isGroupAlive(child), { timeout: 10_000 }).toBe(false);
  },
  60_000,
);

test.each([["--port", "70000"], ["--bogus"]])(
  "wrong arguments are told at once: %s %s",
  async (...args) => {
    expect(await endOf(npmStart(...args))).toBe(2);
  },
  60_000,
);
