import { fileURLToPath } from "node:url";
import { bundledRecords, type FunctionId, functionRecords, type ReleaseCheckId } from "./functions.ts";

/** Every function of the service. */
export const functionIds = Object.keys(functionRecords) as FunctionId[];

/** Every function that has a bundle: those of the service first. */
export const bundledIds = Object.keys(bundledRecords) as (FunctionId | ReleaseCheckId)[];

/** The file with a function's handler, from the root of the project. */
export function handlerPath(id: FunctionId | ReleaseCheckId): string {
  return bundledRecords[id].handler;
}

/** The file with a function's handler, with its whole path. */
export function handlerFile(id: FunctionId | ReleaseCheckId): string {
  return fileURLToPath(new URL(`../${handlerPath(id)}`, import.meta.url));
}

/** Where `cdk` finds the bundles, a folder for each function. */
export const defaultBundles = fileURLToPath(new URL("../dist/functions", import.meta.url));

/** The id of a function's construct, with which its logical id begins. */
export function constructIdOf(id: FunctionId | ReleaseCheckId): string {
  return bundledRecords[id].constructId;
}
