import { join } from "node:path";
import { NestedStack, Stack, type StackProps } from "aws-cdk-lib";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { endpoints } from "../functions/areas.ts";
import { dataFormat } from "../shared/data-format.ts";
import { metricNamespaceVariable, setting } from "../shared/environment.ts";
import { alarmTopicsOf } from "./alarm-topic.ts";
import { addFaultAlarms, addResourceAlarms, type WatchedByName } from "./alarms.ts";
import { addApi } from "./api.ts";
import { constructIdOf } from "./bundles.ts";
import { type AcceptedIssuer, Releases } from "./constructs/releases.ts";
import { removalPolicyIn } from "./constructs/removal-policy.ts";
import { ServiceFunction } from "./constructs/service-function.ts";
import { rotate, signingKeySecret } from "./constructs/signing-key.ts";
import { addDashboard } from "./dashboard.ts";
import { addData } from "./data.ts";
import { deployedSettings, recordedSettings } from "./deployed-settings.ts";
import { bundledRecords, type FunctionId, functionRecords, type ReleaseCheckId } from "./functions.ts";
import { outputNames } from "./output-names.ts";
import { addOutput } from "./outputs.ts";
import { routesByScope } from "./routes-by-scope.ts";
import { refuseDeployment } from "./sam-local.ts";
import { rotation, servedFunctions } from "./served.ts";
import { addFunction, restarted } from "./service-functions.ts";
import type { Settings } from "./settings.ts";
import { stages } from "./stage.ts";
import type { TableNames } from "./table-names.ts";
import { addTriggers } from "./triggers.ts";
import { configuration } from "./variables.ts";
import { warnOfIssuer } from "./warnings.ts";

interface NetworkCapabilitiesProps extends StackProps {
  /** The folder with the bundles: what is deployed, and what a local run executes. */
  readonly bundles: string;
  readonly settings: Settings;
  /** The key of the stack with the tables. */
  readonly dataKey: IKey;
  readonly tableNames: TableNames;
}

const releaseCheck = "releases/check" satisfies ReleaseCheckId;

/**
 * The service without its tables: queues, signing key, functions and their releases, what invokes them, API, the
 * dashboard, and in a nested stack the alarms on queues and functions.
 */
export class NetworkCapabilitiesStack extends Stack {
  /** What alarms of another stack watch. */
  readonly watched: WatchedByName;

  constructor(scope: Construct, id: string, props: NetworkCapabilitiesProps) {
    const { bundles, settings, dataKey, tableNames, ...others } = props;
    const traits = stages[settings.stage];
    super(scope, id, { ...others, terminationProtection: traits.keepsData });

    if (settings.samLocal) refuseDeployment(this);
    if (traits.keepsData) warnOfIssuer(this, settings);
    const data = addData(this, dataKey, tableNames);
    const signingKey = signingKeySecret(this, settings.signingKeySecretArn, removalPolicyIn(traits));
    addOutput(this, outputNames.signingKey, signingKey.secretArn);
    addOutput(this, outputNames.dataFormat, String(dataFormat));
    this.templateOptions.metadata = { [deployedSettings]: recordedSettings(settings) };
    const { DENSITY_K, DENSITY_PRECISIONS } = configuration;
    const chosen = settings.configuration;
    addOutput(this, outputNames.densityK, chosen.DENSITY_K ?? DENSITY_K.default);
    addOutput(this, outputNames.densityPrecisions, chosen.DENSITY_PRECISIONS ?? DENSITY_PRECISIONS.default);

    // An operator's own secret is rotated by the operator.
    const isOurs = settings.signingKeySecretArn === undefined;
    const functionNames = servedFunctions(settings);
    const context = { bundles, data, signingKey, settings, traits };
    const functions = Object.fromEntries(
      functionNames.map((name) => [name, addFunction(this, name, context)]),
    ) as Record<FunctionId, ServiceFunction>;
    if (isOurs) rotate(this, signingKey, functions[rotation]);

    // Releases wait for alarms on new versions, so no later stack can have them; a nested stack keeps them
    // out of this one.
    const alarms = new NestedStack(this, "Alarms", {
      description: "Alarms on functions and queues of the Network Capabilities Service",
    });
    // Alarm names begin `<stack>-Alarms`.
    alarms.nestedStackResource?.overrideLogicalId("Alarms");
    const topics = alarmTopicsOf(this, settings);
    const invokedOf = traits.releasesGradually
      ? this.#release(functions, props, (id) => addFaultAlarms(alarms, id, functions[id], topics.now))
      : (name: FunctionId) => functions[name];
    for (const name of functionNames)
      addTriggers(this, name, data, settings, functions[name], invokedOf(name));
    const api = addApi(this, { settings, traits, invokedOf });

    this.watched = { service: this, api, functions: functionNames, tables: data.tables };
    const watched = {
      ...this.watched,
      queues: data.queues,
      workers: functionNames
        .filter((name) => functionRecords[name].consumes !== undefined)
        .map((name) => functions[name]),
      ...(isOurs ? { rotation: functions[rotation] } : {}),
    };
    addResourceAlarms(alarms, watched, topics);
    if (traits.dashboard) addDashboard(this, watched);
  }

  /** What callers of a function invoke: an alias that shifts gradually; for the rotation, the function itself. */
  #release(
    functions: Readonly<Record<FunctionId, ServiceFunction>>,
    { bundles, settings }: Pick<NetworkCapabilitiesProps, "bundles" | "settings">,
    alarmsOf: (id: FunctionId) => Alarm[],
  ): (id: FunctionId) => IFunction {
    const releases = new Releases(this, "Releases", {
      atOnce: settings.releasesAtOnce,
      check: new ServiceFunction(this, constructIdOf(releaseCheck), {
        bundle: join(bundles, releaseCheck),
        description: releaseCheck,
        environment: { [metricNamespaceVariable]: this.stackName, ...restarted(settings) },
        traits: stages[settings.stage],
        traced: settings.traced,
        ...bundledRecords[releaseCheck],
      }),
      scopes: Object.keys(routesByScope(endpoints)),
      acceptedIssuers: acceptedIssuers(settings),
      retiredIssuers: settings.retiredIssuers,
    });
    const aliases: Partial<Record<FunctionId, IFunction>> = {};
    for (const id of servedFunctions(settings)) {
      const { releaseRole } = functionRecords[id];
      // Secrets Manager invokes the rotation itself, and retries it after a failure.
      if (releaseRole === undefined) releases.checkVersionOf(functions[id]);
      else aliases[id] = releases.add(functions[id], alarmsOf(id), releaseRole);
    }
    return (id) => aliases[id] ?? functions[id];
  }
}

/** Ours, and those that the operator trusts. */
function acceptedIssuers({ configuration: chosen }: Settings): readonly AcceptedIssuer[] {
  const { TOKEN_ISSUER, TOKEN_AUDIENCE, TRUSTED_ISSUERS } = configuration;
  const own = {
    issuer: chosen.TOKEN_ISSUER ?? TOKEN_ISSUER.default,
    audience: chosen.TOKEN_AUDIENCE ?? TOKEN_AUDIENCE.default,
  };
  const trusted = setting(configuration.TRUSTED_ISSUERS, {
    TRUSTED_ISSUERS: TRUSTED_ISSUERS.default,
    ...chosen,
  });
  return [own, ...trusted].map(({ issuer, audience }) => ({ issuer, audiences: [audience].flat() }));
}
