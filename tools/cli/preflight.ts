import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { RootConstruct } from "constructs";
import * as z from "zod";
import { type Settings, settingsIn } from "../../infra/settings.ts";
import { type AccountQuotas, checksOf } from "./preflight-rules.ts";
import type { Print } from "./print.ts";

/** Of the project, wherever the command is run. */
const cdkJson = fileURLToPath(new URL("../../cdk.json", import.meta.url));

const cdkFile = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/** `ncs preflight`: compares the account's quotas with what a stage can use of them. */
export function addPreflight(command: Command, print: Print): void {
  command
    .option("-c, --context <name=value...>", "the settings of the deployment, as for cdk", [])
    .action(async ({ context }: { context: string[] }) => {
      const settings = settingsOf(context);
      // No other command needs its clients.
      const { readAccountQuotas } = await import("./account-quotas.ts");
      report(settings, await readAccountQuotas(), print);
    });
}

/** The settings of a deployment: those of `cdk.json`, replaced by those of the command line. */
function settingsOf(context: readonly string[]): Settings {
  const { node } = new RootConstruct();
  const kept = existsSync(cdkJson) ? cdkFile.parse(JSON.parse(readFileSync(cdkJson, "utf8"))).context : {};
  const given = context.map((one) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(one) ?? [];
    if (name === undefined) throw new Error(`${one} must be name=value`);
    return [name, value] as const;
  });
  // Whom alarms notify makes no difference here.
  const all = { alarmTopicArn: "none", ...kept, ...Object.fromEntries(given) };
  for (const [name, value] of Object.entries(all)) node.setContext(name, value);
  return settingsIn(node);
}

/** @throws {Error} counting the quotas that are too low. */
function report(settings: Settings, account: AccountQuotas, print: Print): void {
  const checks = checksOf(settings, account);
  for (const { quota, needed, allowed, remedy } of checks) {
    const isEnough = needed <= allowed;
    print(
      `${isEnough ? "ok   " : "raise"}  ${quota}: ${settings.stage} can use ${needed}, the account has ${allowed}`,
    );
    if (!isEnough) print(`       ${remedy}`);
  }
  if (account.gatewayMayLog && !settings.gatewayMayLog) {
    print("note   API Gateway has a role to write logs already; keep it with -c gatewayLogRole=existing");
  }
  print("Everything in the account and region shares these quotas.");
  const low = checks.filter(({ needed, allowed }) => needed > allowed).length;
  if (low > 0)
    throw new Error(`${low} of ${checks.length} quotas are lower than what ${settings.stage} can use`);
}
