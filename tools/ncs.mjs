#!/usr/bin/env node
// `ncs` as a command of the shell: Node.js alone does not read the sources.
import { register } from "tsx/esm/api";

register();
await import("./ncs.ts");
