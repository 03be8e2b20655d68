import type { Command } from "commander";
import { rotateKeys } from "./key-rotation.ts";
import type { Print } from "./print.ts";
import { outputsOption, useStack } from "./stack.ts";

/** `ncs rotate-keys`: rotates the signing key at once. */
export function addRotateKeys(command: Command, print: Print): void {
  command.requiredOption(...outputsOption).action(async ({ outputs }: { outputs: string }) => {
    await useStack({ outputs });
    const signsFrom = await rotateKeys();
    print(`The new key is public, and signs all tokens from ${signsFrom.toISOString()} on`);
  });
}
