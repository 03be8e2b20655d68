import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { announce, runningService } from "../../tools/local/running-service.ts";
import type { LocalService } from "../../tools/local/service.ts";

let parent: TemporaryFolder;
beforeEach(() => {
  parent = temporaryFolder("running-service-");
});
afterEach(() => parent.remove());

const service = {
  url: "http://127.0.0.1:3017",
  template: { functions: [{ logicalId: "Login" }], queues: [] },
  environmentOf: () => ({ TABLE_PROFILES: "profiles", SIGNING_KEY: "a-secret" }),
} as unknown as LocalService;

test("a service that runs is found by its port, with the names of its tables and no secret", () => {
  const folder = join(parent.path, "running");
  announce(service, true, folder);
  expect(runningService(3017, folder)).toEqual({
    pid: process.pid,
    url: service.url,
    environment: { TABLE_PROFILES: "profiles" },
  });
});

test("one that cannot write where it would be looked for runs, and who looks for it is told what to do", () => {
  const folder = join(parent.path, "running");
  writeFileSync(folder, "");
  announce(service, true, folder);
  const look = () => runningService(3017, folder);
  expect(look).toThrow("no service runs on port 3017 of this machine: run npm start");
  expect(look).toThrow(`it could not write to ${folder}: make that folder writable, and start it again`);
  rmSync(folder);
  announce(service, true, folder);
  expect(look()).toMatchObject({ url: service.url });
});
