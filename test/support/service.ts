import { inject } from "vitest";
import type { SharedService } from "./shared-service.ts";

/**
 * The service that all test files share, with the demo data: every test makes identifiers of its own. The first file
 * that imports this module starts it; without one, nothing is built.
 */
export const sharedService: SharedService = await started();

async function started(): Promise<SharedService> {
  const response = await fetch(inject("starter"), { signal: AbortSignal.timeout(300_000) });
  if (!response.ok) throw new Error(`the shared service did not start: ${await response.text()}`);
  return (await response.json()) as SharedService;
}
