import fc from "fast-check";
import { runs } from "./sample.ts";

// The default number of runs of a property.
fc.configureGlobal({ numRuns: runs(100, 30) });
