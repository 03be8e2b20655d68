// Loaded before a function: its look-ups ask the name server at NAME_SERVER instead of the machine's.
import promises from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";

const { Resolver } = promises;

promises.Resolver = class extends Resolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.NAME_SERVER]);
  }
};
syncBuiltinESMExports();
