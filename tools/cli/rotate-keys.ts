import type { Command } from "commander";
import { rotateKeys } from "./key-rotation.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { useStack } from "./stack.ts";

/** `ncs rotate-keys`: rotates the signing key at once. */
export function addRotateKeys(command: Command, print: Print): void {
  withStackOptions(command).action(async (options: StackOptions) => {
    await useStack(options);
    const signsFrom = await rotateKeys();
    print(`The new key is public, and signs all tokens from ${signsFrom.toISOString()} on`);
  });
}
