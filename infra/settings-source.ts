/** Where the settings of a deployment stand: in a file, except those that belong to one deployment. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { SettingError } from "./setting-error.ts";
import { readSettings, refuseUnknown, type Settings, settingNames, stageIn } from "./settings.ts";
import { type Stage, stages } from "./stage.ts";

/** Settings of one deployment, which the next one leaves out. */
export const deploymentSettings: readonly string[] = ["release", "restart", "retiredIssuers", "samLocal"];

/** What `-c` takes: the stage, the file with its settings, and those of this deployment. */
export const commandLineSettings: readonly string[] = ["stage", "settings", ...deploymentSettings];

type Context = Readonly<Record<string, unknown>>;

const stageNames = Object.keys(stages) as Stage[];

const settings = z
  .record(z.string(), z.unknown(), "must be an object with the settings of that stage")
  .default({});

const settingsFile = z.strictObject(
  { dev: settings, prod: settings },
  {
    error: ({ code }) =>
      `must have settings below dev and prod${code === "unrecognized_keys" ? " alone" : ""}`,
  },
);

/** The context of the project's `cdk.json`, from any folder. */
export function projectContext(): Context {
  const file = fileURLToPath(new URL("../cdk.json", import.meta.url));
  return z
    .object({ context: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(file, "utf8"))).context;
}

/**
 * Reads the settings of a deployment from the context of CDK, which has what stands behind `-c` and in `cdk.json`; from
 * another file where `-c settings=` names one.
 * @param assumed values of settings that are not given, instead of their defaults.
 * @throws {SettingError} naming the setting that does not exist, stands in the wrong place, is malformed or conflicts with
 *   others.
 * @throws {Misconfigured} naming a variable of the functions that is malformed.
 */
export function settingsIn(context: Context, assumed: Context = {}): Settings {
  const { dev, prod, settings: named, ...given } = context;
  const file = named === undefined ? "cdk.json" : String(named);
  const kept = parse(file, named === undefined ? { dev, prod } : jsonOf(file));
  const stage = stageIn(given.stage);
  refuseUnknown(Object.keys(given));
  const place = (of: string) => `below "${of}" ${named === undefined ? 'of "context" in' : "in"} ${file}`;
  for (const name of settingNames()) {
    if (commandLineSettings.includes(name) || !(name in given)) continue;
    throw new SettingError(
      `${name} must stand in a file: write "${name}": ${JSON.stringify(given[name])} ${place(stage)}`,
    );
  }
  for (const one of stageNames) {
    refuseUnknown(Object.keys(kept[one]));
    const once = commandLineSettings.find((name) => name in kept[one]);
    if (once !== undefined)
      throw new SettingError(`${once} stands ${place(one)}, and belongs to one deployment: -c ${once}=…`);
  }
  return readSettings({ ...kept[stage], ...given }, assumed);
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new SettingError(`-c settings=${file} must name a JSON file: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function parse(file: string, value: unknown): z.output<typeof settingsFile> {
  const { data, error } = settingsFile.safeParse(value);
  if (data !== undefined) return data;
  const [{ path, message } = { path: [], message: "" }] = error.issues;
  throw new SettingError(`${[...path, "of", file].join(" ").replace(/^of /, "")} ${message}`);
}
