import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described, device } from "../../shared/schemas.ts";

const digits = (length: number) => z.string().check(z.regex(new RegExp(`^[0-9]{${length}}$`)));

/** `POST /deviceidentifier/retrieve-identifier` (specification 4.6). */
export const retrieveIdentifier = endpoint({
  id: "device-identifier/retrieve",
  operationId: "retrieveIdentifier",
  summary: "Retrieve a device identifier",
  description:
    "The identifiers and the type of the device that a subscriber uses. The subscriber is the one " +
    "sent, or the subject of the token.",
  method: "POST",
  path: "/deviceidentifier/retrieve-identifier",
  aliases: ["/device-identifier/v0.3/retrieve-identifier"],
  scope: "device-identifier:retrieve-identifier",
  body: z.object({ device: z.optional(device) }).check(
    z.meta({
      id: "DeviceIdentifierRequest",
      description: "Whose device; nobody with a token that is tied to a device.",
      examples: [{ device: { phoneNumber: "+34600000001" } }],
    }),
  ),
  responses: {
    200: z
      .object({
        device: described(z.optional(device), "The identifier that was used; absent when one was sent."),
        lastChecked: z.iso
          .datetime({ offset: true })
          .check(z.meta({ description: "When the operator last confirmed this." })),
        imei: digits(15).check(z.meta({ description: "The device, with its check digit." })),
        imeisv: digits(16).check(z.meta({ description: "The device, with its software version." })),
        tac: digits(8).check(z.meta({ description: "The type of the device." })),
        model: described(z.string(), "The name of the model."),
        manufacturer: described(z.string(), "Who makes the model."),
      })
      .check(
        z.meta({
          id: "DeviceIdentifier",
          description:
            "A device. The member `device` is there when several identifiers were sent: the one that was used.",
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
  errors: [
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
  ],
});
