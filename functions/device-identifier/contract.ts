import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described, device } from "../../shared/schemas.ts";

const digits = (length: number) => z.string().check(z.regex(new RegExp(`^[0-9]{${length}}$`)));

const body = z.object({ device: z.optional(device) }).check(
  z.meta({
    id: "DeviceIdentifierRequest",
    description: "The device, by its identifiers; left out with a 3-legged token, which is tied to one.",
    examples: [{ device: { phoneNumber: "+34600000001" } }],
  }),
);

/** The members that every response has. */
const common = {
  device: described(z.optional(device), "The identifier that was used; absent when one was sent."),
  lastChecked: z.iso
    .datetime({ offset: true })
    .check(z.meta({ description: "When the operator last confirmed this." })),
};

/** What is known of the type of a device. */
const deviceType = {
  tac: digits(8).check(z.meta({ description: "The type of the device." })),
  model: described(z.string(), "The name of the model."),
  manufacturer: described(z.string(), "Who makes the model."),
};

const usedIdentifier =
  "The member `device` is there when several identifiers were sent: the one that was used.";

const errors = [
  "INVALID_ARGUMENT",
  "OUT_OF_RANGE",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "IDENTIFIER_NOT_FOUND",
  "SERVICE_NOT_APPLICABLE",
  "UNSUPPORTED_IDENTIFIER",
  "UNNECESSARY_IDENTIFIER",
  "MISSING_IDENTIFIER",
  "QUOTA_EXCEEDED",
  "TOO_MANY_REQUESTS",
] as const;

const release = {
  name: "device-identifier 0.3.0",
  differences:
    "Identifiers of different devices are no error: the first supported one is used alone, and the others are not " +
    "looked up, so that nobody learns which belong together.",
} as const;

/** `POST /deviceidentifier/retrieve-identifier` (specification 4.6). */
export const retrieveIdentifier = endpoint({
  id: "device-identifier/retrieve",
  operationId: "retrieveIdentifier",
  summary: "Retrieve a device identifier",
  description:
    "The identifiers and the type of the device that a subscriber uses. The subscriber is the one " +
    "that the request names, or that of a 3-legged token.",
  method: "POST",
  path: "/deviceidentifier/retrieve-identifier",
  aliases: ["/device-identifier/v0.3/retrieve-identifier"],
  release,
  scope: "device-identifier:retrieve-identifier",
  body,
  responses: {
    200: z
      .object({
        ...common,
        imei: digits(15).check(z.meta({ description: "The device, with its check digit." })),
        imeisv: digits(16).check(z.meta({ description: "The device, with its software version." })),
        ...deviceType,
      })
      .check(
        z.meta({
          id: "DeviceIdentifier",
          description: `A device. ${usedIdentifier}`,
          examples: [
            {
              lastChecked: "2026-02-20T10:41:38.657Z",
              imei: "490154203237518",
              imeisv: "4901542032375101",
              tac: "49015420",
              model: "3110",
              manufacturer: "Nokia",
            },
          ],
        }),
      ),
  },
  errors,
});

/** `POST /deviceidentifier/retrieve-type` (behaviour section 13). */
export const retrieveType = endpoint({
  id: "device-identifier/retrieve-type",
  operationId: "retrieveType",
  summary: "Retrieve the type of a device",
  description:
    "The type of the device that a subscriber uses, and nothing by which the device itself could be recognised. The " +
    "subscriber is the one that the request names, or that of a 3-legged token.",
  method: "POST",
  path: "/deviceidentifier/retrieve-type",
  aliases: ["/device-identifier/v0.3/retrieve-type"],
  release,
  scope: "device-identifier:retrieve-type",
  body,
  responses: {
    200: z.object({ ...common, ...deviceType }).check(
      z.meta({
        id: "DeviceType",
        description: `The type of a device. ${usedIdentifier}`,
        examples: [
          {
            lastChecked: "2026-02-20T10:41:38.657Z",
            tac: "49015420",
            model: "3110",
            manufacturer: "Nokia",
          },
        ],
      }),
    ),
  },
  errors,
});

/** `POST /deviceidentifier/retrieve-ppid` (behaviour section 13). */
export const retrievePpid = endpoint({
  id: "device-identifier/retrieve-ppid",
  operationId: "retrievePpid",
  summary: "Retrieve a pseudonym of a device",
  description:
    "A pairwise pseudonymous identifier (PPID) of the device that a subscriber uses: the same for each request of one " +
    "client about one device, another one for every other client. The subscriber is the one sent, or the subject of " +
    "the token.",
  method: "POST",
  path: "/deviceidentifier/retrieve-ppid",
  aliases: ["/device-identifier/v0.3/retrieve-ppid"],
  release,
  scope: "device-identifier:retrieve-ppid",
  body,
  responses: {
    200: z
      .object({
        ...common,
        ppid: z
          .string()
          .check(z.regex(/^[0-9a-f]{64}$/), z.meta({ description: "The device, for this client alone." })),
      })
      .check(
        z.meta({
          id: "DevicePpid",
          description: `A pseudonym of a device. ${usedIdentifier}`,
          examples: [
            {
              lastChecked: "2026-02-20T10:41:38.657Z",
              ppid: "b083f65ccdad365d7489fff24b6d5074b30c12b6d81db3404d25964ffd908813",
            },
          ],
        }),
      ),
  },
  errors,
});
