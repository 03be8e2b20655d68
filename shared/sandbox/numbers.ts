import type { Code } from "../errors.ts";
import { failingNumbers } from "./failing-numbers.ts";

/** An answer: the code of an error, or a success with the members of its body that matter. */
export type Outcome = Code | { readonly says: string; readonly body: object };

/** The equipment and the rights in which a device of the sandbox differs from the others. */
interface SandboxDevice {
  readonly imei: string;
  readonly identifierConsent?: false;
  readonly qosProfiles?: readonly string[];
  readonly notApplicable?: readonly string[];
}

/** A number of the sandbox. */
export interface SandboxNumber {
  readonly phoneNumber: string;
  readonly about: string;
  /** What the operations of each area answer; number recycling, about `sandboxDate`. */
  readonly outcomes: Readonly<Record<"qos-profiles" | "number-recycling" | "device-identifier", Outcome>>;
  /** The device that is stored under the number, if one is. */
  readonly device?: SandboxDevice;
  /** The subscribers that are stored under the number, from a day to a day. */
  readonly history?: readonly { readonly subscriber: string; readonly from: string; readonly to?: string }[];
}

/** The `specifiedDate` for which the table says whether a number was recycled. */
export const sandboxDate = "2024-01-01";

const firstSubscriber = [{ subscriber: "sandbox-first", from: "2020-01-01" }];
const notRecycled: Outcome = { says: "not recycled", body: { phoneNumberRecycled: false } };
const recycled: Outcome = { says: "recycled", body: { phoneNumberRecycled: true } };
const deviceFound: Outcome = { says: "the device", body: { lastChecked: "2026-01-01T00:00:00Z" } };
const unrestricted: Outcome = {
  says: "the unrestricted profiles of its network",
  body: [
    "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "QOS_E",
    "QOS_L",
    "QOS_LEGACY",
    "QOS_M",
    "QOS_NIGHTLY",
    "QOS_S",
  ].map((name) => ({ name })),
};

/** The same answer of every operation. */
const everywhere = (outcome: Outcome) => ({
  "qos-profiles": outcome,
  "number-recycling": outcome,
  "device-identifier": outcome,
});

/** Every number of the sandbox; +990 is assigned to no country. */
export const sandboxNumbers: readonly SandboxNumber[] = [
  {
    phoneNumber: "+99020001",
    about: "a subscriber since 2020, who has agreed to everything",
    outcomes: {
      "qos-profiles": unrestricted,
      "number-recycling": notRecycled,
      "device-identifier": deviceFound,
    },
    device: { imei: "001017000000011" },
    history: firstSubscriber,
  },
  {
    phoneNumber: "+99020002",
    about: "another subscriber since 2025, with a list of profiles",
    outcomes: {
      "qos-profiles": { says: "`QOS_RESTRICTED` alone", body: [{ name: "QOS_RESTRICTED" }] },
      "number-recycling": recycled,
      "device-identifier": deviceFound,
    },
    device: { imei: "001017000000029", qosProfiles: ["QOS_RESTRICTED"] },
    history: [
      { subscriber: "sandbox-first", from: "2020-01-01", to: "2024-06-30" },
      { subscriber: "sandbox-second", from: "2025-01-01" },
    ],
  },
  {
    phoneNumber: "+99020003",
    about: "a subscriber without profiles",
    outcomes: {
      "qos-profiles": { says: "an empty list", body: [] },
      "number-recycling": notRecycled,
      "device-identifier": deviceFound,
    },
    device: { imei: "001017000000037", qosProfiles: [] },
    history: firstSubscriber,
  },
  {
    phoneNumber: "+99020004",
    about: "given up in 2024, nobody's since",
    outcomes: {
      "qos-profiles": "IDENTIFIER_NOT_FOUND",
      "number-recycling": recycled,
      "device-identifier": "IDENTIFIER_NOT_FOUND",
    },
    history: [{ subscriber: "sandbox-first", from: "2020-01-01", to: "2024-06-30" }],
  },
  {
    phoneNumber: "+99040301",
    about: "a subscriber who lets nobody learn of the device",
    outcomes: {
      "qos-profiles": unrestricted,
      "number-recycling": notRecycled,
      "device-identifier": "PERMISSION_DENIED",
    },
    device: { imei: "001017000000045", identifierConsent: false },
    history: firstSubscriber,
  },
  {
    phoneNumber: "+99040401",
    about: "never assigned",
    outcomes: everywhere("IDENTIFIER_NOT_FOUND"),
  },
  {
    phoneNumber: "+99042201",
    about: "a device to which no service applies",
    outcomes: everywhere("SERVICE_NOT_APPLICABLE"),
    device: {
      imei: "001017000000052",
      notApplicable: ["qos-profiles", "number-recycling", "device-identifier"],
    },
    history: firstSubscriber,
  },
  ...[...failingNumbers].map(([phoneNumber, code]) => ({
    phoneNumber,
    about: "fails, each time",
    outcomes: everywhere(code),
  })),
];

/** A part of the demo city where nobody lives: every cell of every hour is suppressed. */
export const suppressedArea = {
  areaType: "POLYGON",
  boundary: [
    { latitude: 45.7352, longitude: 4.8565 },
    { latitude: 45.7352, longitude: 4.8596 },
    { latitude: 45.7383, longitude: 4.8596 },
    { latitude: 45.7383, longitude: 4.8565 },
  ],
} as const;
