import { networkCapabilities } from "./app.ts";

// What `cdk` runs: see cdk.json.
networkCapabilities().synth();
