import { fileURLToPath } from "node:url";
import {
  type FunctionId,
  functionRecords,
  type OptionalFunctionId,
  optionalFunctionRecords,
} from "./functions.ts";

/** Every function of the service. */
export const functionIds = Object.keys(functionRecords) as FunctionId[];

/** Every function that has a bundle: those of the service first. */
export const bundledIds: readonly (FunctionId | OptionalFunctionId)[] = [
  ...functionIds,
  ...(Object.keys(optionalFunctionRecords) as OptionalFunctionId[]),
];

const records = { ...functionRecords, ...optionalFunctionRecords };

/** The file with a function's handler, from the root of the project. */
export function handlerPath(id: FunctionId | OptionalFunctionId): string {
  return records[id].handler;
}

/** The file with a function's handler, with its whole path. */
export function handlerFile(id: FunctionId | OptionalFunctionId): string {
  return fileURLToPath(new URL(`../${handlerPath(id)}`, import.meta.url));
}

/** Where `cdk` finds the bundles, a folder for each function. */
export const defaultBundles = fileURLToPath(new URL("../dist/functions", import.meta.url));

/** The id of a function's construct, with which its logical id begins. */
export function constructIdOf(id: FunctionId | OptionalFunctionId): string {
  return records[id].constructId;
}
