import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { outputNames } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { listenForDeliveries } from "../../tools/cli/webhook-listener.ts";
import type { ListeningServer } from "../../tools/local/servers/listening-server.ts";
import { tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { storeDensities } from "../support/jobs.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const folder = useOwnFolder();

let token: string;
beforeEach(async () => {
  token = await tokenWith({ scope: "population-density-data:read" });
  vi.stubEnv("NCS_TOKEN", token);
  vi.stubEnv("NCS_URL", sharedService.url);
});
afterEach(() => vi.unstubAllEnvs());

/** Creates a secret with `ncs`. */
async function created(): Promise<{ readonly id: string; readonly secret: string }> {
  const { code, stdout, stderr } = await runNcs(["webhooks", "create"]);
  expect(code, stderr).toBe(0);
  return { id: stderr.split("  ")[0] ?? "", secret: stdout.trim() };
}

test("ncs webhooks creates secrets, lists them, and deletes one", async () => {
  const [one, other] = [await created(), await created()];
  expect(one.secret).toMatch(/^whsec_/);
  const listed = await runNcs(["webhooks", "list"]);
  expect(listed.stdout.split("\n").map((line) => line.split("  ")[0])).toEqual([one.id, other.id, ""]);
  expect(listed.stdout).not.toContain("whsec_");
  const deleted = await runNcs(["webhooks", "delete", one.id]);
  expect(deleted).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^${other.id}  \\S+\n$`)),
  });
});

test("ncs webhooks list --outputs asks the API of the deployed stage, and refuses two services", async () => {
  const secret = await created();
  vi.stubEnv("NCS_URL", "http://127.0.0.1:1");
  const stage = { [stackNames.prod]: { [outputNames.apiAddress]: `${sharedService.url}/` } };
  const outputs = await folder.write("outputs.json", stage);
  expect(await runNcs(["webhooks", "list", "--outputs", outputs])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(secret.id),
  });
  expect(await runNcs(["webhooks", "list", "--outputs", outputs, "--url", sharedService.url])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--outputs and --url name several services"),
  });
});

test("ncs webhooks create says why when there are two secrets already", async () => {
  await created();
  await created();
  expect(await runNcs(["webhooks", "create"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("There are 2 webhook secrets already"),
  });
});

test("ncs webhooks listen prints a delivery that its secret has signed, before and after it is replaced, and refuses others with 401", async () => {
  useTables();
  const { request } = await storeDensities();
  const printed: string[] = [];
  const listening: ListeningServer[] = [];
  const deliver = async ({ secret }: { readonly secret: string }) => {
    const listener = await listenForDeliveries(
      secret,
      0,
      (line) => printed.push(line),
      (line) => printed.push(line),
    );
    listening.push(listener);
    const response = await fetch(`${sharedService.url}/populationdensitydata/retrieve`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...request, sink: `${listener.url}/` }),
    });
    const { operationId } = (await response.json()) as { operationId: string };
    const line = `${operationId}  SUPPORTED_AREA  1 hour of 2 cells  signature verified`;
    await expect.poll(() => printed).toContain(line);
  };
  onTestFinished(async () => {
    for (const { close } of listening) await close();
  });
  const old = await created();
  await deliver(old);
  const next = await created();
  await deliver(old);
  await deliver(next);
  await runNcs(["webhooks", "delete", old.id]);
  await deliver(next);
  expect(printed).toHaveLength(4);
  const [listener] = listening;
  expect(await fetch(`${listener?.url}`, { method: "POST", body: "{}" })).toMatchObject({ status: 401 });
  expect(printed.at(-1)).toMatch(/^refused with 401: not signed with this secret/);
});
