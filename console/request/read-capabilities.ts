import { callApi } from "../base/session.ts";
import type { Capabilities } from "../data/capabilities.ts";

/** Reads the API's capabilities. */
export async function readCapabilities(): Promise<Capabilities> {
  return (await callApi("populationdensitydata/capabilities")).json as Capabilities;
}
