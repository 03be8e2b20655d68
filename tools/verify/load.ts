import { setTimeout as pause } from "node:timers/promises";
import type { DemoLogin } from "../demo-logins.ts";
import { type Outcome, sendScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenarios.ts";

/** How many requests a second, and for how long. */
export interface Load {
  readonly rate: number;
  readonly seconds: number;
}

/** 100 requests a second for a minute: below the quotas of six callers, 1,200 each. */
export const usualLoad: Load = { rate: 100, seconds: 60 };

const minCallers = 6;

/** Milliseconds within which 95 of 100 requests of an operation must be answered. */
const maxMilliseconds = 1_000;

/** What is sent: reads, which may be repeated. */
const repeatable =
  /^(?:(?:qos-profiles|number-recycling|device-identifier)\/|population-density\/(?:capabilities|list-operations|retrieve|summarize)\.).*200-/;

/** A caller, and the requests that it sends in turn. */
interface Caller {
  readonly token: string;
  readonly scenarios: readonly Scenario[];
}

interface LoadedService {
  readonly url: string;
  /** Of `loginsForLoad`. */
  readonly logins: readonly DemoLogin[];
  readonly scenarios: readonly Scenario[];
  readonly tokenFor: (login: DemoLogin) => Promise<string>;
  readonly load: Load;
}

/**
 * The logins that can send anything: those with permissions.
 * @throws {Error} when they are fewer than six.
 */
export function loginsForLoad(logins: readonly DemoLogin[]): readonly DemoLogin[] {
  const permitted = logins.filter(({ Permissions }) => Permissions !== "");
  if (permitted.length >= minCallers) return permitted;
  throw new Error(`--load needs ${minCallers} logins with permissions; there are ${permitted.length}`);
}

/**
 * Sends requests at a constant rate, whether or not earlier ones are answered, taking turns among callers and operations.
 * Each request is one that the service has answered for its caller before.
 * @returns an outcome for each operation, or one failure if the service answers none of its requests.
 */
export async function underLoad({
  url,
  logins,
  scenarios,
  tokenFor,
  load: { rate, seconds },
}: LoadedService): Promise<readonly Outcome[]> {
  const callers: Caller[] = [];
  for (const login of logins) {
    const token = await tokenFor(login);
    const answered = await answeredBefore(url, token, login, scenarios);
    if (answered.length > 0) callers.push({ token, scenarios: answered });
  }
  if (callers.length === 0)
    return [{ name: "load", milliseconds: 0, failure: "no request was answered with 200" }];
  const answers: Answer[] = [];
  const underWay: Promise<void>[] = [];
  const begun = performance.now();
  for (let index = 0; index < rate * seconds; index++) {
    await pause(Math.max(0, begun + (index * 1_000) / rate - performance.now()));
    const { token, scenarios: own } = callers[index % callers.length] as Caller;
    const scenario = own[Math.floor(index / callers.length) % own.length] as Scenario;
    underWay.push(measured(url, token, scenario).then((answer) => void answers.push(answer)));
  }
  await Promise.all(underWay);
  const operations = new Set(answers.map(({ operation }) => operation));
  return [...operations].sort().map((operation) =>
    outcomeOf(
      operation,
      answers.filter((answer) => answer.operation === operation),
      callers.length,
    ),
  );
}

/**
 * For each operation, one request that the service answers for this caller. Those recorded for a login like it, with or
 * without a subscription, are tried first.
 */
async function answeredBefore(
  url: string,
  token: string,
  { Permissions, subscription }: DemoLogin,
  scenarios: readonly Scenario[],
): Promise<readonly Scenario[]> {
  const found = new Map<string, Scenario>();
  const isLike = ({ login }: Scenario) =>
    (login?.subscription === undefined) === (subscription === undefined);
  const reads = scenarios.filter(({ name }) => repeatable.test(name));
  for (const scenario of [...reads.filter(isLike), ...reads.filter((read) => !isLike(read))]) {
    const { operationId, scope } = scenario.endpoint;
    if (found.has(operationId) || !Permissions.split(" ").includes(`${scope}`)) continue;
    const { status } = await measured(url, token, scenario);
    if (status === 200) found.set(operationId, scenario);
  }
  return [...found.values()];
}

interface Answer {
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
}

async function measured(url: string, token: string, scenario: Scenario): Promise<Answer> {
  const authorization = `Bearer ${token}`;
  const { response, milliseconds } = await sendScenario(scenario, url, { authorization });
  return { operation: scenario.endpoint.operationId, status: response.status, milliseconds };
}

function outcomeOf(operation: string, answers: readonly Answer[], callers: number): Outcome {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
  const [p50 = 0, p95 = 0] = [0.5, 0.95].map((share) => times[Math.floor(share * times.length)]);
  const others = answers.filter(({ status }) => status !== 200).map(({ status }) => status);
  const failures = [
    ...(others.length === 0 ? [] : [`${others.length} not 200: ${[...new Set(others)].join(", ")}`]),
    ...(p95 > maxMilliseconds ? [`95 of 100 answers take up to ${Math.round(p95)} ms`] : []),
  ];
  return {
    name: `load/${operation}`,
    milliseconds: times.reduce((sum, one) => sum + one, 0),
    failure: failures.length === 0 ? undefined : failures.join("; "),
    notes: [
      `${answers.length} requests of ${callers} callers, p50 ${Math.round(p50)} ms, p95 ${Math.round(p95)} ms`,
    ],
  };
}
