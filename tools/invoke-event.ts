import type { EventFile } from "./event-files.ts";
import { type Fault, faultyEvent, faultyVariables } from "./faults.ts";
import { apiResult } from "./local/api-result.ts";
import type { LocalBackend } from "./local/service.ts";

/**
 * What a function of a local service answers to an event, under a fault if one is given.
 * @throws {Error} when the fault changes nothing of this event or this function.
 */
export async function invokeEvent(
  service: LocalBackend,
  { functionId, event }: Pick<EventFile, "functionId" | "event">,
  fault?: Fault,
): Promise<unknown> {
  if (fault === undefined) return await apiResult(service, functionId, event, {});
  const environment = faultyVariables(fault, service.environmentOf(functionId));
  const hasVariables = Object.keys(environment).length > 0;
  if (fault.environment !== undefined && !hasVariables) {
    throw new Error(`${functionId} has no variable ${Object.keys(fault.environment).join(" or ")}`);
  }
  const options = hasVariables ? { environment } : {};
  return await apiResult(service, functionId, faultyEvent(event, fault), options);
}
