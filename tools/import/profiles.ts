import * as z from "zod";
import { hashPassword } from "../../functions/profile/password.ts";
import { addressOf } from "../../functions/profile/rules.ts";
import { findProfile, replaceProfile } from "../../functions/profile/store.ts";
import { profileRecord } from "../../functions/profile/tables.ts";
import { type ImportKind, readEach, writeEach } from "./import-file.ts";

const { passwordHash: _, ...fields } = profileRecord.shape;

const schema = z.object({
  ...fields,
  /** Clear text in the file, hashed before it is stored. */
  password: z.string().min(1).optional(),
});

/** Logins. */
export const profiles: ImportKind<typeof schema> = {
  file: "profiles.json",
  schema,
  identities: ({ ID, EmailAddress }) => [
    { field: "ID", value: String(ID) },
    { field: "EmailAddress", value: addressOf(EmailAddress) },
  ],
  conflicts: async (records) => {
    const stored = await readEach(records, ({ EmailAddress }, signal) =>
      findProfile(addressOf(EmailAddress), signal),
    );
    return records.flatMap(({ ID }, record) => {
      const owner = stored[record]?.ID;
      return owner === undefined || owner === ID
        ? []
        : [{ record, field: "EmailAddress", message: "belongs to another profile" }];
    });
  },
  write: (records) => writeEach(records, storeProfile, undefined, hashesAtOnce),
};

/** Each takes a processor and 32 MiB for a quarter of a second. */
const hashesAtOnce = 2;

async function storeProfile({ password, ...profile }: z.output<typeof schema>, signal: AbortSignal) {
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  await replaceProfile({ ...profile, ...(passwordHash === undefined ? {} : { passwordHash }) }, signal);
}
