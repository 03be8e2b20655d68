import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { between, countryCode, described, device, networkCode } from "../../shared/schemas.ts";

function int32(minimum: number, maximum: number) {
  return z.int().check(...between(minimum, maximum), z.meta({ format: "int32" }));
}

const nameForm = "must be 3 to 256 of the characters a-z A-Z 0-9 _ . -";

const qosProfileName = z
  .string()
  .check(
    z.minLength(3, nameForm),
    z.maxLength(256, nameForm),
    z.regex(/^[a-zA-Z0-9_.-]+$/, nameForm),
    z.meta({ id: "QosProfileName", description: "The unique name of a QoS profile.", examples: ["QOS_E"] }),
  );

const qosProfileStatus = z.enum(["ACTIVE", "INACTIVE", "DEPRECATED"]).check(
  z.meta({
    id: "QosProfileStatus",
    description: [
      "`ACTIVE`: can be used.",
      "`INACTIVE`: cannot be deployed at present.",
      "`DEPRECATED`: still used by running sessions, not for new ones.",
    ].join(" "),
  }),
);

/** Nanoseconds in each unit of a duration. */
export const durationUnits = {
  Days: 86_400_000_000_000n,
  Hours: 3_600_000_000_000n,
  Minutes: 60_000_000_000n,
  Seconds: 1_000_000_000n,
  Milliseconds: 1_000_000n,
  Microseconds: 1_000n,
  Nanoseconds: 1n,
} as const;

/** Bits a second in each unit of a rate. */
export const rateUnits = {
  bps: 1n,
  kbps: 1_000n,
  Mbps: 1_000_000n,
  Gbps: 1_000_000_000n,
  Tbps: 1_000_000_000_000n,
} as const;

function unitOf<Unit extends string>(units: Readonly<Record<Unit, bigint>>) {
  return z.enum(Object.keys(units) as [Unit, ...Unit[]]);
}

const duration = z
  .object({
    value: described(z.optional(int32(1, 2_147_483_647)), "The number of units."),
    unit: described(z.optional(unitOf(durationUnits)), "The unit of the value."),
  })
  .check(z.meta({ id: "Duration", description: "A length of time." }));

const rate = z
  .object({
    value: described(z.optional(int32(0, 1_024)), "The number of units."),
    unit: described(z.optional(unitOf(rateUnits)), "The unit of the value, a second."),
  })
  .check(z.meta({ id: "Rate", description: "A data rate." }));

/** A length of time (specification 2.6). */
export type Duration = z.infer<typeof duration>;

/** A data rate (specification 2.7). */
export type Rate = z.infer<typeof rate>;

const countryAvailability = z
  .object({
    countryName: countryCode.check(z.meta({ description: "Country code, two letters." })),
    networks: z.optional(
      z
        .array(networkCode)
        .check(z.meta({ description: "Networks of the country by their code; absent: all of them." })),
    ),
  })
  .check(
    z.meta({
      id: "CountryAvailability",
      description: "A country, and where given the networks, of a profile.",
    }),
  );

const experimental = "Experimental: may change or be removed.";

const exampleProfile = {
  name: "QOS_E",
  status: "ACTIVE",
  maxUpstreamRate: { value: 10, unit: "Mbps" },
  maxDownstreamRate: { value: 20, unit: "Mbps" },
  minDuration: { value: 1, unit: "Minutes" },
  maxDuration: { value: 12, unit: "Hours" },
  priority: 20,
  packetDelayBudget: { value: 50, unit: "Milliseconds" },
  serviceClass: "real_time_interactive",
};

const serviceClasses = [
  "vendor_voice",
  "vendor_audio_video",
  "real_time_interactive",
  "multimedia_streaming",
  "broadcast_video",
  "low_latency_data",
  "high_throughput_data",
  "low_priority_data",
  "standard",
] as const;

const serviceClassMeta = {
  description: `The class of differentiated services (RFC 4594). ${experimental}`,
};

/** A QoS profile as a caller sees it (specification 2.3). */
export const qosProfile = z
  .object({
    name: qosProfileName,
    status: qosProfileStatus,
    description: described(z.optional(z.string()), "What the profile is for."),
    countryAvailability: described(
      z.optional(z.array(countryAvailability)),
      "Where the profile is offered. Absent: the operator has not limited it, and it counts as offered everywhere.",
    ),
    targetMinUpstreamRate: described(z.optional(rate), "The minimum upstream rate that the network aims at."),
    maxUpstreamRate: described(z.optional(rate), "The maximum upstream rate."),
    maxUpstreamBurstRate: described(z.optional(rate), "The maximum upstream rate for a short time."),
    targetMinDownstreamRate: described(
      z.optional(rate),
      "The minimum downstream rate that the network aims at.",
    ),
    maxDownstreamRate: described(z.optional(rate), "The maximum downstream rate."),
    maxDownstreamBurstRate: described(z.optional(rate), "The maximum downstream rate for a short time."),
    minDuration: described(z.optional(duration), "The shortest session."),
    maxDuration: described(z.optional(duration), "The longest session."),
    priority: z.optional(
      int32(1, 100).check(z.meta({ description: "A lower value has a higher priority." })),
    ),
    packetDelayBudget: described(
      z.optional(duration),
      "The longest delay of a packet between the device and the network's edge.",
    ),
    jitter: described(z.optional(duration), "The maximum variation of the delay of packets."),
    packetErrorLossRate: z.optional(
      int32(1, 10).check(z.meta({ description: "n means that up to 10^-n of the packets may be lost." })),
    ),
    l4sQueueType: z.optional(
      z
        .enum(["non-l4s-queue", "l4s-queue", "mixed-queue"])
        .check(
          z.meta({ description: `The kind of queue for low latency, low loss traffic. ${experimental}` }),
        ),
    ),
    serviceClass: z.optional(z.enum(serviceClasses).check(z.meta(serviceClassMeta))),
  })
  .check(
    z.meta({
      id: "QosProfile",
      description: "A named set of network quality parameters.",
      examples: [exampleProfile],
    }),
  );

/** A QoS profile as a caller sees it (specification 2.3). */
export type QosProfile = z.infer<typeof qosProfile>;

/** The service classes whose names differ in CAMARA's release. */
const camaraNames: Readonly<Record<string, string>> = {
  vendor_voice: "microsoft_voice",
  vendor_audio_video: "microsoft_audio_video",
};
const camaraNameOf = (name: string) => camaraNames[name] ?? name;

const camaraRelease = {
  name: "qos-profiles 1.1.0",
  differences:
    "The `serviceClass` is `microsoft_voice` and `microsoft_audio_video` instead of `vendor_voice` and " +
    "`vendor_audio_video`.",
} as const;

const camaraProfile = z
  .object({
    ...qosProfile.shape,
    serviceClass: z.optional(
      z.pipe(
        z.transform(camaraNameOf),
        z.enum(serviceClasses.map(camaraNameOf)).check(z.meta(serviceClassMeta)),
      ),
    ),
  })
  .check(
    z.meta({
      id: "QosProfileV1",
      "x-camara-release": camaraRelease.name,
      description: "A named set of network quality parameters, as CAMARA's release has it.",
      examples: [exampleProfile],
    }),
  );

const matching = {
  description: "The profiles that match, by name; empty when none does.",
  examples: [[exampleProfile]],
};

/** `POST /qualityondemand/retrieve-qos-profiles` (specification 4.2). */
export const retrieveQosProfiles = endpoint({
  id: "qos-profiles/retrieve",
  operationId: "retrieveQosProfiles",
  summary: "List QoS profiles",
  description:
    "The QoS profiles that match all criteria given, by name. With a device, or a token tied to one: " +
    "those available to it.",
  method: "POST",
  path: "/qualityondemand/retrieve-qos-profiles",
  aliases: ["/qos-profiles/v1/retrieve-qos-profiles"],
  release: {
    ...camaraRelease,
    responses: {
      200: z
        .array(camaraProfile)
        .check(z.meta({ id: "QosProfilesV1", "x-camara-release": camaraRelease.name, ...matching })),
    },
  },
  scope: "qos-profiles:read",
  body: z
    .object({
      device: z.optional(device),
      name: z.optional(qosProfileName),
      status: z.optional(qosProfileStatus),
    })
    .check(
      z.meta({
        id: "QosProfileCriteria",
        description: "What the profiles listed have in common; every criterion is optional.",
        examples: [{ status: "ACTIVE", device: { phoneNumber: "+34600000001" } }],
      }),
    ),
  responses: {
    200: z.array(qosProfile).check(z.meta({ id: "QosProfiles", ...matching })),
  },
  errors: [
    "INVALID_ARGUMENT",
    "OUT_OF_RANGE",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "IDENTIFIER_NOT_FOUND",
    "SERVICE_NOT_APPLICABLE",
    "UNSUPPORTED_IDENTIFIER",
    "UNNECESSARY_IDENTIFIER",
    "QUOTA_EXCEEDED",
    "TOO_MANY_REQUESTS",
  ],
});

/** `GET /qualityondemand/qos-profiles/{name}` (specification 4.3). */
export const getQosProfile = endpoint({
  id: "qos-profiles/get-by-name",
  operationId: "getQosProfile",
  summary: "Read a QoS profile",
  description:
    "One QoS profile by its name. With a token tied to a device: only if it is available to the device.",
  method: "GET",
  path: "/qualityondemand/qos-profiles/{name}",
  aliases: ["/qos-profiles/v1/qos-profiles/{name}"],
  release: { ...camaraRelease, responses: { 200: camaraProfile } },
  scope: "qos-profiles:read",
  parameters: { name: qosProfileName },
  responses: { 200: qosProfile },
  errors: [
    "INVALID_ARGUMENT",
    "OUT_OF_RANGE",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "QUOTA_EXCEEDED",
    "TOO_MANY_REQUESTS",
  ],
});
