import * as z from "zod";
import { nearestName } from "../../../shared/nearest-name.ts";
import { readJsonAs } from "../../import/json-file.ts";

/** An object without unknown members. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: ({ code }) => (code === "invalid_type" ? `must be an object with ${names}` : undefined),
  });
}

/** What could have been meant by an unknown name. */
function suggestion(mistyped: string, known: readonly string[]): string {
  const nearest = nearestName(mistyped, known);
  return nearest === undefined ? `the known names are ${known.join(", ")}.` : `did you mean ${nearest}?`;
}

/** A client with a key, whose file is named from the plan's folder; the issuer is the implementation if absent. */
const client = strict({
  clientId: z.string(),
  keyFile: z.string(),
  issuer: z.url().optional(),
  subject: z.string().optional(),
  purpose: z.string().optional(),
});

/** Where a token comes from: a token endpoint, a login at this service, the plan itself, or a variable of the shell. */
const source = z.union(
  [
    strict({ client }),
    strict({ login: strict({ emailaddress: z.string(), password: z.string() }) }),
    strict({ token: z.string() }),
    strict({ environment: z.string() }),
  ],
  {
    error:
      "must be { client: { clientId, keyFile, … } }, { login: { emailaddress, password } }, { token } or { environment: NAME }",
  },
);

const callerName = z.string();
const device = z.record(z.string(), z.unknown());
const boundary = z.array(z.object({ latitude: z.number(), longitude: z.number() }));
const area = z.looseObject({ areaType: z.string(), boundary });
const size = strict({ boundary, hours: z.int().min(1), precision: z.int() });

const shape = strict({
  /** Where the implementation has resources that are elsewhere than the features say. */
  paths: z.record(z.string(), z.string()).default({}),
  callers: z
    .record(z.string(), strict({ from: source, scopes: z.array(z.string()) }), {
      error: "must be an object of callers by name, each with from and scopes",
    })
    .refine((callers) => Object.keys(callers).length > 0, {
      error: "must have one caller at least",
      abort: true,
    }),
  /** The caller of 2-legged tokens. */
  application: callerName,
  expiredToken: source.optional(),
  /** A changed token of the application if absent. */
  invalidToken: source.optional(),
  /** By operation, what is sent unless a scenario says otherwise; times of densities are added. */
  bodies: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  devices: strict({
    /** With a caller whose 3-legged tokens identify it. */
    valid: strict({ device, caller: callerName.optional() }).optional(),
    /** A caller whose 3-legged tokens identify another device. */
    otherCaller: callerName.optional(),
    /** A caller of 2-legged tokens that is another client: it gets other pseudonyms. */
    otherClient: callerName.optional(),
    unknown: device.optional(),
    /** By identifiers that the implementation does not support. */
    unsupported: device.optional(),
    /** That the service is not offered to. */
    notApplicable: device.optional(),
    /** That has no QoS profile. */
    withoutProfiles: device.optional(),
    /** That restricted QoS profiles are available to. */
    withRestrictedProfiles: device.optional(),
  }).prefault({}),
  equipment: z
    .record(
      z.string(),
      strict({
        imei: z.string().optional(),
        imeisv: z.string().optional(),
        tac: z.string().optional(),
        manufacturer: z.string().optional(),
        model: z.string().optional(),
        ppid: z.string().optional(),
      }),
    )
    .default({}),
  /** A line for each SIM card in each device that a scenario has it in. */
  simCards: z
    .array(
      strict({
        simCard: z.string(),
        in: z.string(),
        phoneNumber: z.string(),
        publicIpv4Address: z.string().optional(),
        publicPort: z.int().optional(),
        caller: callerName.optional(),
      }),
    )
    .default([]),
  phoneNumbers: strict({
    /** A number that its holder has had since before the date. */
    linked: strict({ phoneNumber: z.string(), signed: z.iso.date() }).optional(),
    /** A number that has another holder since the date. */
    recycled: strict({ phoneNumber: z.string(), signed: z.iso.date() }).optional(),
    notApplicable: z.string().optional(),
  }).prefault({}),
  qosProfiles: strict({
    existing: z.string().optional(),
    restricted: z.array(z.string()).default([]),
  }).prefault({}),
  densities: strict({
    supported: area.optional(),
    partial: area.optional(),
    unsupported: area.optional(),
    tooComplex: area.optional(),
    precision: z.int().optional(),
    unsupportedPrecision: z.int().optional(),
    /** How many days before, and after, now a period begins too early, or too late. */
    tooEarlyDays: z.int().min(1).optional(),
    tooLateDays: z.int().min(1).optional(),
    tooLongHours: z.int().min(1).optional(),
    tooBigForSync: size.optional(),
    tooBig: size.optional(),
  }).prefault({}),
  /** Where the runner receives deliveries. */
  receiver: strict({
    port: z.int().min(0).max(65_535).default(0),
    /** Where the implementation reaches the port; that of the port on this machine, with http, if absent. */
    url: z.url({ protocol: /^https$/ }).optional(),
    waitSeconds: z.int().min(1).default(60),
    /** A status with which answers are refused until the implementation gives the operation up and says so. */
    failingStatus: z.int().min(400).max(599).optional(),
  }).optional(),
  /** How many requests of a caller reach the limit of the rate, and within how many seconds they must be sent. */
  threshold: strict({
    caller: callerName,
    requests: z.int().min(1),
    seconds: z.number().positive(),
  }).optional(),
});

/** A test plan: the data of an implementation that scenarios need. */
const planSchema = shape.superRefine((plan, context) => {
  const known = Object.keys(plan.callers);
  const named: readonly (readonly [name: string | undefined, ...path: (string | number)[]])[] = [
    [plan.application, "application"],
    [plan.devices.valid?.caller, "devices", "valid", "caller"],
    [plan.devices.otherCaller, "devices", "otherCaller"],
    [plan.devices.otherClient, "devices", "otherClient"],
    [plan.threshold?.caller, "threshold", "caller"],
    ...plan.simCards.map(({ caller }, index) => [caller, "simCards", index, "caller"] as const),
  ];
  for (const [name, ...path] of named) {
    if (name === undefined || known.includes(name)) continue;
    const message = `there is no caller ${name}: ${suggestion(name, known)}`;
    context.addIssue({ code: "custom", path, message });
  }
});

/** A test plan with its defaults. */
export type Plan = z.output<typeof planSchema>;

/** Where a token comes from. */
export type TokenSource = z.output<typeof source>;

/** @throws {ImportError} naming each member that is wrong, and the nearest one of an unknown name. */
export async function readPlan(path: string): Promise<Plan> {
  return await readJsonAs(planSchema, path);
}
