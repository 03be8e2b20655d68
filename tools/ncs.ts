import { unwritable } from "../shared/import/unreadable.ts";
import { ncs } from "./cli/ncs.ts";
import { exitOnSignals } from "./exit-on-signals.ts";

exitOnSignals();
// What reads the output may have read enough, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`standard output ${unwritable(error.code)}\n`);
  process.exit(1);
});
// `npm run` starts programs in the project's folder; paths are meant from where the person stands.
if (process.env.INIT_CWD !== undefined && process.env.npm_lifecycle_event === "ncs") {
  process.chdir(process.env.INIT_CWD);
}
const code = await ncs(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
});
if (code !== 0) process.exit(code);
