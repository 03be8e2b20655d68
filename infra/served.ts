import { endpoints, protocolEndpoints } from "../functions/areas.ts";
import { functionIds } from "./bundles.ts";
import type { FunctionId } from "./functions.ts";

/** The settings that decide which endpoints and functions a stage has. */
export interface ServedSettings {
  readonly configuration: { readonly TOKEN_ENDPOINT?: string };
  readonly signingKeySecretArn?: string | undefined;
}

/** The function that rotates the signing key. */
export const rotation = "keys/rotate" satisfies FunctionId;

/** The endpoints of a stage: those of a protocol where the stage asks for it. */
export function servedEndpoints({ configuration }: Pick<ServedSettings, "configuration">) {
  return configuration.TOKEN_ENDPOINT === "on" ? [...endpoints, ...protocolEndpoints] : endpoints;
}

/** The functions of a stage: none for an endpoint that it does not have, nor for a key that its operator rotates. */
export function servedFunctions(settings: ServedSettings): readonly FunctionId[] {
  const served = new Set<string>(servedEndpoints(settings).map(({ id }) => id));
  const absent: readonly string[] = [
    ...protocolEndpoints.map(({ id }) => id).filter((id) => !served.has(id)),
    ...(settings.signingKeySecretArn === undefined ? [] : [rotation]),
  ];
  return functionIds.filter((id) => !absent.includes(id));
}
