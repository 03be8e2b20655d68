import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import * as z from "zod";
import { deployedSettings, forgottenSettings, recordedSettings } from "../../infra/deployed-settings.ts";
import { type Settings, undeployedSettings } from "../../infra/settings.ts";
import { projectContext, settingsIn } from "../../infra/settings-source.ts";
import { stackName, stackNames } from "../../infra/stack-names.ts";
import { type TableNames, tableNamesOf } from "../../infra/table-names.ts";
import { removedGrants } from "./grants.ts";
import { wholeNumber } from "./options.ts";
import {
  type AccountQuotas,
  type Check,
  checksOf,
  type ExpectedRequests,
  firstToThrottle,
  streamsOf,
  unreadyIndexes,
} from "./preflight-rules.ts";
import type { Print } from "./print.ts";
import { readTemplate } from "./template-file.ts";

/** In the project, wherever the command is run. */
const synthesized = fileURLToPath(new URL(`../../cdk.out/${stackName}.template.json`, import.meta.url));

interface PreflightOptions {
  readonly context: string[];
  readonly densities?: number;
  readonly others?: number;
  readonly deployed?: string;
  readonly template: string;
  readonly forget?: boolean;
}

const countOfRequests = wholeNumber(0, 9_999_999);

const recorded = z.record(z.string(), z.string()).default({});

/** `ncs preflight`: compares the account's quotas, and what the tables bear, with what a stage can use of them. */
export function addPreflight(command: Command, print: Print): void {
  command
    .option("-c, --context <name=value...>", "stage=dev, or settings=FILE, as for cdk", [])
    .option(
      "--densities <number>",
      "expected requests a second for densities and their summaries, of all callers",
      countOfRequests,
    )
    .option("--others <number>", "expected requests a second of all others, of all callers", countOfRequests)
    .option(
      "--deployed <file>",
      "the template of the stage as it is deployed: refuses settings that forget its own, rights that are taken from it, " +
        "and indexes that are not there yet",
    )
    .option("--template <file>", "what `cdk synth` wrote, to compare with --deployed", synthesized)
    .option("--forget", "lets settings be forgotten that the stage was deployed with")
    .action(async (options: PreflightOptions) => {
      const { context, densities, others, deployed } = options;
      const settings = settingsOf(context);
      if ((densities === undefined) !== (others === undefined)) {
        throw new Error("--densities and --others must be given together");
      }
      const names = tableNamesOf(stackNames[settings.stage], settings.tableNames);
      if (deployed !== undefined) await refuseUpgrade(deployed, options, settings, names);
      // No other command needs its clients.
      const { readAccountQuotas, readWarmThroughput } = await import("./account-quotas.ts");
      const [account, tables] = await Promise.all([readAccountQuotas(), readWarmThroughput(names)]);
      const expected = densities === undefined || others === undefined ? undefined : { densities, others };
      const checks = checksOf(settings, account, tables, expected);
      report(settings, account, checks, expected, print);
    });
}

/** @throws {Error} naming what the deployed stage would lose, and what it must have before its functions are deployed. */
async function refuseUpgrade(
  file: string,
  { template, forget = false }: Pick<PreflightOptions, "template" | "forget">,
  settings: Settings,
  names: TableNames,
): Promise<void> {
  const deployed = await readTemplate(file);
  const { readIndexStatus } = await import("./account-quotas.ts");
  const forgotten = forget
    ? []
    : forgottenSettings(recorded.parse(deployed.Metadata[deployedSettings]), recordedSettings(settings));
  const removed = removedGrants(deployed, await readTemplate(template));
  const problems = [
    ...problemsWith(
      forgotten,
      "Write what the stage needs into the file of its settings, or let it go with --forget",
    ),
    ...problemsWith(
      removed.map(({ role, action, resource }) => `${role}  ${action}  ${resource}`),
      "These rights are removed: keep them, and remove them in the next release",
    ),
    ...problemsWith(
      unreadyIndexes(await readIndexStatus(names)),
      "Deploy the tables alone, and wait until their indexes are ACTIVE: docs/upgrading.md",
    ),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

function problemsWith(found: readonly string[], remedy: string): readonly string[] {
  return found.length === 0 ? [] : [...found, remedy];
}

/** The settings of a deployment: those of its file, and what stands behind `-c`. */
function settingsOf(context: readonly string[]): Settings {
  const given = context.map((one) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(one) ?? [];
    if (name === undefined) throw new Error(`${one} must be name=value`);
    return [name, value] as const;
  });
  // Whom alarms notify, and where, makes no difference here.
  return settingsIn({ ...projectContext(), ...Object.fromEntries(given) }, undeployedSettings);
}

/** @throws {Error} counting what is too low. */
function report(
  settings: Settings,
  account: AccountQuotas,
  checks: readonly Check[],
  expected: ExpectedRequests | undefined,
  print: Print,
): void {
  const isExpected = expected !== undefined;
  const can = isExpected ? "needs" : "can use";
  for (const { quota, of, needed, allowed, remedy } of checks) {
    const isEnough = needed <= allowed;
    print(
      `${isEnough ? "ok   " : "raise"}  ${quota}: ${settings.stage} ${can} ${needed}, the ${of} has ${allowed}`,
    );
    if (!isEnough) print(`       ${remedy}`);
  }
  const first = firstToThrottle(checks);
  if (first !== undefined) {
    const percent = Math.floor((100 * first.allowed) / first.needed);
    const requests = isExpected ? "the expected requests" : "the requests that its API lets through";
    print(`first  ${first.quota} would throttle first, at ${percent} % of ${requests}`);
  }
  if (account.gatewayMayLog && !settings.gatewayMayLog) {
    print('note   API Gateway has a role to write logs already; keep it with "gatewayLogRole": "existing"');
  }
  const { callers, executions, setting, needed: needs } = streamsOf(settings, account, expected);
  print(`slow   ${callers} callers that read slowly can hold ${executions} executions of streamed answers;`);
  print(
    setting === undefined
      ? `       reservations that bound them need an account of ${needs} executions`
      : `       bound them with "reservedConcurrency": "${setting}"`,
  );
  print("Everything in the account and region shares its quotas.");
  const low = checks.filter(({ needed, allowed }) => needed > allowed).length;
  if (low > 0) throw new Error(`${low} of ${checks.length} are lower than what ${settings.stage} ${can}`);
}
