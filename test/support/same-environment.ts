// Files of a worker share `process.env` and the modules they have imported. Each begins with the variables that the
// worker began with, and with modules of its own: a client of AWS that an earlier file has left in its module is of a
// server that may be closed.
import { vi } from "vitest";

const worker = globalThis as typeof globalThis & { initialEnvironment?: Readonly<NodeJS.ProcessEnv> };
vi.unstubAllEnvs();
worker.initialEnvironment ??= { ...process.env };
for (const name of Object.keys(process.env)) {
  if (!(name in worker.initialEnvironment)) delete process.env[name];
}
Object.assign(process.env, worker.initialEnvironment);
vi.resetModules();
