import * as z from "zod";
import { areas } from "../../functions/areas.ts";
import { hashPassword } from "../../functions/profile/password.ts";
import { addressOf } from "../../functions/profile/rules.ts";
import { findProfile, replaceProfile } from "../../functions/profile/store.ts";
import { profileRecord, profiles as table } from "../../functions/profile/tables.ts";
import { recordFiles } from "./data-files.ts";
import { eachBatch, eachItem, type ImportKind } from "./import-file.ts";
import type { Placed } from "./record-file.ts";

const { passwordHash: _, ...fields } = profileRecord.shape;

const scopes = areas.flatMap((area) => Object.keys(area.scopes));

const schema = z
  .object({
    ...fields,
    /** Clear text in the file, hashed before it is stored. */
    password: z.string().min(1).optional(),
  })
  .superRefine(({ Permissions = "", Latitude = 0, Longitude = 0 }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    if (Permissions.split(/\s+/).some((word) => word !== "" && !scopes.includes(word))) {
      refuse("Permissions", `unknown permission: must be some of ${scopes.join(" ")}, separated by spaces`);
    }
    const swapped = Math.abs(Longitude) <= 90 ? "; latitude and longitude swapped?" : "";
    if (Math.abs(Latitude) > 90) refuse("Latitude", `must be from -90 to 90${swapped}`);
    if (Math.abs(Longitude) > 180) refuse("Longitude", "must be from -180 to 180");
  });

/** Logins. */
export const profiles: ImportKind<typeof schema> = {
  file: recordFiles.profiles,
  table,
  schema,
  identities: ({ ID, EmailAddress }) => [
    { field: "ID", value: String(ID) },
    { field: "EmailAddress", value: addressOf(EmailAddress) },
  ],
  begin: (problems) => ({
    review: (records) =>
      eachItem(records, positionOf, async ({ position, content }, signal) => {
        const stored = await findProfile(addressOf(content.EmailAddress), signal);
        if (stored === undefined || stored.ID === content.ID) return;
        problems.add(0, "belongs to another profile", position + 1, "EmailAddress");
      }),
    write: (source) =>
      eachBatch(source(), (records) => eachItem(records, positionOf, storeProfile, hashesAtOnce)),
  }),
};

/** Each takes a processor and 32 MiB for a quarter of a second. */
const hashesAtOnce = 2;

type Profile = Placed<z.output<typeof schema>>;

const positionOf = ({ position }: Profile) => position;

async function storeProfile({ content }: Profile, signal: AbortSignal): Promise<void> {
  const { password, ...profile } = content;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  await replaceProfile({ ...profile, ...(passwordHash === undefined ? {} : { passwordHash }) }, signal);
}
