import { ncs } from "./cli/ncs.ts";
import { exitOnSignals } from "./exit-on-signals.ts";

exitOnSignals();
const code = await ncs(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
if (code !== 0) process.exit(code);
