import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { faultNames } from "../../tools/faults.ts";

/** Runs `npm run invoke` as a person does. */
function invoke(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--import", "tsx", "tools/invoke.ts", ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test("invoke --print prints the event under its fault, which sam local invoke takes as a file", async () => {
  const file = "events/qos-profiles/retrieve.200-all.json";
  const { code, stdout } = await invoke(file, "--fault", "permission-denied", "--print");

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    resource: "/qualityondemand/retrieve-qos-profiles",
    requestContext: { authorizer: { client: "1000", scope: "" } },
  });
});

test("invoke without an event prints its usage with the names of all faults", async () => {
  const { code, stderr } = await invoke();

  expect(code).toBe(2);
  expect(stderr).toContain(faultNames.join(", "));
});
