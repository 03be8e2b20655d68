import { oneOf, whenSet } from "./format.ts";

/** Whether some numbers always fail (`shared/sandbox`): on where the stage is a sandbox, and not set elsewhere. */
export const SANDBOX = { name: "SANDBOX", format: () => whenSet(oneOf("off", "on"), "off") };
