import { tokenOf } from "../cli/login.ts";
import type { DemoLogin } from "../demo-logins.ts";
import type { Findings } from "./findings.ts";
import { type Outcome, runScenario } from "./run-scenario.ts";
import { scenarios } from "./scenarios.ts";

/** Requests that are under way at a time: few, as the rate of a stage is for its callers. */
const requestsAtOnce = 4;

/** What is verified. */
export interface Verification {
  /** Without a trailing slash. */
  readonly url: string;
  readonly logins: readonly DemoLogin[];
  /** Only scenarios whose names contain it. */
  readonly only?: string | undefined;
  readonly onProgress?: (progress: { readonly done: number; readonly all: number }) => void;
}

/**
 * Sends the scenarios of the contract to a service.
 * @throws {Error} when nothing answers, or a login is refused.
 */
export async function verify({ url, logins, only = "", onProgress }: Verification): Promise<Findings> {
  const found = await scenarios(logins);
  const wanted = found.scenarios.filter(({ name }) => name.includes(only));
  const skipped = found.skipped.filter(({ name }) => name.includes(only));
  const tokens = new Map<string, Promise<string>>();
  const tokenFor = ({ EmailAddress, password }: DemoLogin) => {
    const token = tokens.get(EmailAddress) ?? tokenOf(url, { emailaddress: EmailAddress, password });
    tokens.set(EmailAddress, token);
    return token;
  };
  const outcomes: Outcome[] = [];
  const left = wanted.entries();
  const work = async () => {
    for (const [index, scenario] of left) {
      outcomes[index] = await runScenario(scenario, url, tokenFor);
      onProgress?.({ done: outcomes.filter(Boolean).length, all: wanted.length });
    }
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
  return { url, outcomes, skipped };
}
