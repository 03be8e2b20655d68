/** What tests look at of the application as `cdk` would make it: `make-templates.ts` makes all of it at once. */
import * as z from "zod";
import { localSettings } from "../../infra/settings.ts";

/** A value for every setting, none of them the default. */
export const everySetting = {
  alarms: "essential",
  alarmTopicArn: "arn:aws:sns:eu-west-1:123456789012:pages",
  awsHost: "closed",
  corsOrigins: "https://app.example,https://other.example:8443",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/11111111-2222-3333-4444-555555555555",
  domainName: "api.operator.example",
  gatewayLogRole: "existing",
  hostedZoneId: "Z0123456789ABC",
  laterAlarmTopicArn: "arn:aws:sns:eu-west-1:123456789012:later",
  maxObservedDayAge: "2",
  maxSigningKeyAge: "90",
  maxWorkers: "40",
  RATE_LIMIT_PER_MINUTE: "600",
  release: "at-once",
  retiredIssuers: "https://old.operator.example,https://older.operator.example",
  reservedConcurrency: "profile/authenticate:50,population-density/deliver:50",
  signingKeySecretArn: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:operators-key-AbCdEf",
  throttlingBurst: "60",
  throttlingRate: "40",
  tokenRate: "90",
  TOKEN_ENDPOINT: "on",
  TOKEN_ISSUER: "https://api.operator.example",
  tracing: "true",
  TRUSTED_ISSUERS:
    '[{"issuer":"https://login.operator.example","jwksUri":"https://login.operator.example/jwks",' +
    '"audience":["network-capabilities"],"algorithms":["ES256"]}]',
  waf: "true",
  "warmThroughput.densities": "30000:4000",
  "warmThroughput.density-jobs": "12000:8000",
} as const;

const { certificateArn, domainName } = everySetting;

/** Some settings of the stage for callers, with what is true or a number as a file may have it. */
export const someSettings = {
  stage: "prod",
  certificateArn,
  domainName,
  hostedZoneId: "none",
  "tables.profiles": "NetworkCapabilities-profiles.2026-11-22",
  throttlingRate: 37,
  tokenRate: 90,
  TOKEN_ISSUER: "https://example.operator.net",
  waf: true,
} as const;

/** Some settings of the stage for trying out, with what is JSON or a number as a file may have it. */
export const triedSettings = {
  stage: "dev",
  corsOrigins: "https://app.example",
  DENSITY_SYNC_LIMIT: 123,
  DENSITY_K: 20,
  samLocal: true,
  TRUSTED_ISSUERS: [
    {
      issuer: "https://op.example",
      jwksUri: "https://op.example/jwks",
      audience: "ncs",
      algorithms: ["ES256"],
    },
  ],
} as const;

/** The settings with which the stack of the service has the most resources. */
const largest = {
  stage: "prod",
  certificateArn,
  corsOrigins: everySetting.corsOrigins,
  domainName,
  hostedZoneId: everySetting.hostedZoneId,
  TOKEN_ENDPOINT: "on",
  TOKEN_ISSUER: `https://${domainName}`,
  waf: "true",
} as const;

/** A restore of two tables: with both names, and then with the new ones alone. */
const restored = {
  profiles: "restored-profiles",
  devices: "restored-devices",
} as const;
const whileRestoring = Object.entries(restored).map(([name, used]) => [
  `tables.${name}`,
  `${used},NetworkCapabilities-${name}`,
]);
const onceRestored = Object.entries(restored).map(([name, used]) => [`tables.${name}`, used]);

/** The account and region of the one synthesis that is not for any. */
export const pinned = { account: "123456789012", region: "eu-west-1" } as const;

/** The syntheses that tests look at, by their settings. */
export const contexts = {
  deployed: {},
  deployedAgain: { stage: "prod" },
  configured: everySetting,
  largest,
  someSettings,
  triedSettings,
  hostOpen: { stage: "dev", certificateArn, domainName },
  hostClosed: { stage: "dev", certificateArn, domainName, awsHost: "closed" },
  deployedDev: { stage: "dev" },
  restoring: { stage: "prod", ...Object.fromEntries(whileRestoring) },
  restored: {
    stage: "prod",
    ...Object.fromEntries(onceRestored),
    restart: "2026-11-25",
  },
  pinned: { stage: "prod", ...pinned },
  localDev: { stage: "dev", ...localSettings },
  localProd: { stage: "prod", ...localSettings },
} as const satisfies Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The name of a synthesis that tests look at. */
export type SharedName = keyof typeof contexts;

/** The syntheses whose templates are checked: both stages, without and with every setting, all stacks, and a pinned one. */
export const checkedNames = [
  "deployedDev",
  "deployed",
  "configured",
  "pinned",
] as const satisfies SharedName[];

/** Each entry is valid; together they are more than Lambda takes. */
const manyIssuers = Array.from({ length: 20 }, (_, index) => ({
  issuer: `https://login-${index}.operator.net/with/a/path/that/goes/on`,
  jwksUri: `https://login-${index}.operator.net/with/a/path/that/goes/on/jwks`,
  audience: "network-capabilities",
  algorithms: ["ES256", "RS256"],
}));

/** Settings with which nothing can be synthesized. */
export const refusedContexts = {
  unknownStage: { stage: "staging" },
  manyIssuers: { TRUSTED_ISSUERS: JSON.stringify(manyIssuers) },
} as const;

/** What is written with the templates, for what they do not have. */
export const notesFile = "notes.json";

const acknowledgement = z.object({ path: z.string(), rule: z.string(), reason: z.string() });

export const notesSchema = z.object({
  /** The warnings of each synthesis. */
  warnings: z.record(z.string(), z.array(z.string())),
  /** What AWS Solutions finds in a synthesis, a line for each rule and resource. */
  checks: z.record(
    z.string(),
    z.object({
      /** Without what is acknowledged. */
      open: z.array(z.string()),
      /** As if nothing were acknowledged. */
      all: z.array(z.string()),
      acknowledgements: z.array(acknowledgement),
      /** What CDK's validation finds, a line for each rule and resource. */
      violations: z.array(z.string()),
    }),
  ),
  /** Why nothing is synthesized of a refused context. */
  refusals: z.record(z.string(), z.string()),
  /** Every refusal that the CDK of this project knows API Gateway to have. */
  gatewayResponses: z.array(z.string()),
});

export type Notes = z.output<typeof notesSchema>;
