#!/usr/bin/env -S node --max-semi-space-size=8
// `ncs` as a command of the shell: Node.js alone does not read the sources. The flag is that of `npm run ncs`.
import { register } from "tsx/esm/api";

register();
await import("./ncs.ts");
