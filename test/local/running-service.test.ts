import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDeclarations } from "../../tools/local/declared/declarations.ts";
import { announce, runningService } from "../../tools/local/running-service.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const parent = useOwnFolder();

const service = {
  url: "http://127.0.0.1:3017",
  declarations: readDeclarations({}),
  tableNames: { TABLE_PROFILES: "profiles" },
  queueUrls: new Map([["density-jobs", "http://127.0.0.1:1/jobs"]] as const),
  environmentOf: () => ({ SIGNING_KEY: "a-secret", DENSITY_K: "20" }),
};

test("ncs --local finds a service by its port, with its tables, queues and settings and without a secret", () => {
  const folder = join(parent.path, "running");
  announce(service, true, folder);
  const environment = {
    DENSITY_K: "20",
    QUEUE_DENSITY_JOBS: "http://127.0.0.1:1/jobs",
    TABLE_PROFILES: "profiles",
  };
  expect(runningService(3017, folder)).toEqual({ pid: process.pid, url: service.url, environment });
});

test("ncs --local without a port finds the one service that runs, and with two of them is refused with both ports", () => {
  const folder = join(parent.path, "any-port");
  expect(() => runningService(undefined, folder)).toThrow(
    "no service runs on this machine: run npm start; if",
  );
  announce(service, true, folder);
  writeFileSync(
    join(folder, "3018.json"),
    JSON.stringify({ pid: 2 ** 22 + 1, url: "http://127.0.0.1:3018", environment: {} }),
  );
  expect(runningService(undefined, folder).url).toBe(service.url);
  announce({ ...service, url: "http://127.0.0.1:3019" }, true, folder);
  expect(() => runningService(undefined, folder)).toThrow("as in --local PORT: 3017, 3019");
});

test("npm start goes on when its folder cannot be written, and ncs --local says what to do", () => {
  const folder = join(parent.path, "unwritable");
  writeFileSync(folder, "");
  announce(service, true, folder);
  const look = () => runningService(3017, folder);
  expect(look).toThrow("no service runs on port 3017 of this machine: run npm start");
  expect(look).toThrow(`it could not write to ${folder}: make that folder writable, and start it again`);
  rmSync(folder);
  announce(service, true, folder);
  expect(look()).toMatchObject({ url: service.url });
});
