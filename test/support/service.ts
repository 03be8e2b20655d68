import { inject } from "vitest";
import type { SharedService } from "./shared-service.ts";

/**
 * The service that all test files share, with the demo data: every test makes identifiers of its own. The first file
 * that imports this module starts it; without one, nothing is started.
 */
export const sharedService: SharedService = await shared("/service");

/** The folder of the templates that several files look at: `test/infra/shared-templates.ts`. */
export function sharedTemplates(): Promise<string> {
  return shared("/templates");
}

/** The folder of the pages that the service serves. */
export function sharedPages(): Promise<string> {
  return shared("/pages");
}

/** The folder of the bundles, which has one for each function. */
export function sharedBundles(): Promise<string> {
  return shared("/bundles");
}

async function shared<Shared>(path: "/service" | "/pages" | "/bundles" | "/templates"): Promise<Shared> {
  const response = await fetch(`${inject("starter")}${path}`, { signal: AbortSignal.timeout(300_000) });
  if (!response.ok) throw new Error(`the shared service did not start: ${await response.text()}`);
  return (await response.json()) as Shared;
}
