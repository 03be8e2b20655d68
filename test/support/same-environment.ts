// Files of a thread share `process.env`: each begins with the variables that the thread began with.
const thread = globalThis as typeof globalThis & { initialEnvironment?: Readonly<NodeJS.ProcessEnv> };
thread.initialEnvironment ??= { ...process.env };
for (const name of Object.keys(process.env)) {
  if (!(name in thread.initialEnvironment)) delete process.env[name];
}
Object.assign(process.env, thread.initialEnvironment);
