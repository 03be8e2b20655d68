import fc from "fast-check";
import { runs } from "./sample.ts";

// How often a property is tried that does not say so itself.
fc.configureGlobal({ numRuns: runs(100, 30) });
