import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));

/** A module that keeps the first address it is used with, as the clients of AWS do. */
const client = `
  let address;
  export const addressOfClient = () => (address ??= process.env.AWS_ENDPOINT_URL_DYNAMODB);
`;

/** A test file that leaves a client and a variable behind. */
const file = (address: string) => `
  import { expect, test } from "vitest";
  import { addressOfClient } from "./client.ts";
  test("uses ${address}", () => {
    expect(process.env.AWS_ENDPOINT_URL_DYNAMODB).toBeUndefined();
    process.env.AWS_ENDPOINT_URL_DYNAMODB = "${address}";
    expect(addressOfClient()).toBe("${address}");
  });
`;

test("a test file gets neither the environment nor the clients that an earlier file of its thread has left", async () => {
  // Among the project's packages, which the files import.
  const folder = await mkdtemp(join(project, "node_modules", ".test-files-"));
  try {
    const { AWS_ENDPOINT_URL_DYNAMODB: _, ...env } = process.env;
    const setupFiles = [join(project, "test", "support", "same-environment.ts")];
    const settings = { isolate: false, maxWorkers: 1, include: ["*.test.ts"], setupFiles };
    await writeFile(
      join(folder, "vitest.config.mjs"),
      `export default ${JSON.stringify({ test: settings })};`,
    );
    await writeFile(join(folder, "client.ts"), client);
    await writeFile(join(folder, "one.test.ts"), file("http://one.example"));
    await writeFile(join(folder, "two.test.ts"), file("http://two.example"));

    const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
    const running = promisify(execFile)(process.execPath, [vitest, "run", "--root", folder], { env });

    expect((await running).stdout).toMatch(/Test Files .*2 passed/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
