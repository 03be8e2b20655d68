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
  template: {
    functions: [{ logicalId: "Login" }],
    queues: [],
    tables: [{ logicalId: "TABLEPROFILES0A1B2C3D", name: "profiles" }],
  },
  environmentOf: () => ({ SIGNING_KEY: "a-secret" }),
} as unknown as LocalService;

test("ncs --local finds a service by its port, with its table names and without a secret", () => {
  const folder = join(parent.path, "running");
  announce(service, true, folder);
  expect(runningService(3017, folder)).toEqual({
    pid: process.pid,
    url: service.url,
    environment: { TABLE_PROFILES: "profiles" },
  });
});

test("npm start goes on when its folder cannot be written, and ncs --local says what to do", () => {
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
