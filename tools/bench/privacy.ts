import * as z from "zod";
import { makeAssembly } from "../assembly.ts";
import { startDemoService } from "../local/demo-service.ts";
import { demoData } from "../local/demo-tables.ts";
import type { LocalService } from "../local/service.ts";
import type { Bench, Row } from "./bench.ts";
import { type Ask, attack } from "./privacy-attack.ts";
import { largeScenarios, randomScenario, smallScenarios } from "./privacy-scenarios.ts";

const randomScenarios = 16;
const worldsEach = 1_100;

/** Whether suppressed counts can be computed from densities. */
export const privacy: Bench = {
  about: [
    "An attack on densities over HTTP. A world is one possible count of people in a few cells, imported once or several",
    "times: growing coverage, regions one by one, repeated imports, ranges, market shares, typical weekdays. All worlds of a",
    "scenario are imported, each into its own hour. After every import every cell of precisions 3 to 7 is requested. Worlds",
    "with the same answers are then compared: a count that is the same in all of them is determined, and a number below the",
    "threshold that occurs in none of them is excluded.",
  ].join("\n"),
  run: async () => {
    const { assembly, remove } = await makeAssembly();
    const service = await startDemoService({
      assembly,
      environment: { RATE_LIMIT_PER_MINUTE: "1000000", DAILY_QUOTA: "100000000", CACHE_SECONDS: "0" },
      port: 0,
      data: demoData,
      logs: { write: () => true },
    });
    try {
      Object.assign(process.env, tablesOf(service));
      return await attacked(await askAt(service.url));
    } finally {
      await service.close();
      remove();
    }
  },
};

/** The environment variables of the tables of a service on this machine. */
export function tablesOf({ template, environmentOf }: LocalService): Readonly<Record<string, string>> {
  const variables = template.functions.flatMap(({ logicalId }) => Object.entries(environmentOf(logicalId)));
  return Object.fromEntries(variables.filter(([name]) => /^(?:TABLE_|AWS_(?!LAMBDA_))/.test(name)));
}

async function attacked(ask: Ask): Promise<Row[]> {
  const random = Array.from({ length: randomScenarios }, (_, seed) => randomScenario(seed, worldsEach));
  const total = { worlds: 0, answers: 0, determined: 0, excluded: 0 };
  for (const scenario of [...smallScenarios, ...largeScenarios, ...random]) {
    const { worlds, answers, determined, excluded } = await attack(scenario, ask);
    for (const found of [...determined, ...excluded].slice(0, 3)) console.error(found);
    total.worlds += worlds;
    total.answers += answers;
    total.determined += determined.length;
    total.excluded += excluded.length;
  }
  return [
    { what: "worlds tried", measured: total.worlds.toLocaleString("en"), holds: true },
    { what: "different answers", measured: total.answers.toLocaleString("en"), holds: true },
    none("suppressed counts determined", total.determined),
    none("numbers below the threshold excluded", total.excluded),
  ];
}

function none(what: string, count: number): Row {
  return { what, measured: count.toLocaleString("en"), bar: "0", holds: count === 0 };
}

const login = z.object({ Data: z.object({ access_token: z.string() }) });
const callMilliseconds = 30_000;

/** Logs in to a service with the demo data. */
export async function askAt(url: string): Promise<Ask> {
  const post = async (path: string, body: unknown, headers = {}): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(callMilliseconds),
    });
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return await response.json();
  };
  const credentials = { emailaddress: "app@example.com", password: "correct horse battery staple" };
  const { Data } = login.parse(await post("/v3/profile/authenticate", credentials));
  const authorization = `Bearer ${Data.access_token}`;
  return (body) => post("/populationdensitydata/retrieve", body, { authorization });
}
