import * as z from "zod";
import { tokenOf } from "../calls/login.ts";
import type { DemoLogin } from "../demo-logins.ts";
import type { Findings } from "./findings.ts";
import { type Outcome, runScenario } from "./run-scenario.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { deliverTo } from "./sink.ts";

/** Requests that are under way at a time: few, as the rate of a stage is for its callers. */
const requestsAtOnce = 4;

/** What is verified. */
export interface Verification {
  /** Without a trailing slash. */
  readonly url: string;
  readonly logins: readonly DemoLogin[];
  /** Only scenarios whose names contain it. */
  readonly only?: string | undefined;
  /** Where densities are to be delivered too. */
  readonly sink?: string | undefined;
  readonly onProgress?: (progress: { readonly done: number; readonly all: number }) => void;
}

/**
 * Sends the scenarios of the contract to a service.
 * @throws {Error} when nothing answers, or a login is refused.
 */
export async function verify({ url, logins, only = "", sink, onProgress }: Verification): Promise<Findings> {
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
  if (sink !== undefined) outcomes.push(await delivered(url, sink, found.scenarios, tokenFor));
  return { url, outcomes, skipped };
}

type TokenFor = (login: DemoLogin) => Promise<string>;

/** Delivers what the first good request for densities asks for. */
async function delivered(url: string, sink: string, all: readonly Scenario[], tokenFor: TokenFor) {
  const densities = all.find(({ name }) => name.startsWith("population-density/retrieve.200-"));
  if (densities?.login === undefined || densities.body === undefined)
    throw new Error("--sink needs a login with population-density-data:read");
  return await deliverTo({
    url,
    sink,
    token: await tokenFor(densities.login),
    request: z.record(z.string(), z.unknown()).parse(JSON.parse(densities.body)),
  });
}
