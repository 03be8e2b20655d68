// Files of a thread share `process.env` and the modules they have imported. Each begins with the variables that the
// thread began with, and with modules of its own: a client of AWS that an earlier file has left in its module is of a
// server that may be closed.
import { vi } from "vitest";

const thread = globalThis as typeof globalThis & { initialEnvironment?: Readonly<NodeJS.ProcessEnv> };
vi.unstubAllEnvs();
thread.initialEnvironment ??= { ...process.env };
for (const name of Object.keys(process.env)) {
  if (!(name in thread.initialEnvironment)) delete process.env[name];
}
Object.assign(process.env, thread.initialEnvironment);
vi.resetModules();
