import * as z from "zod";
import { contradictionIn } from "../../functions/qos-profiles/rules.ts";
import { replaceQosProfile } from "../../functions/qos-profiles/store.ts";
import { qosProfileRecord, qosProfiles as table } from "../../functions/qos-profiles/tables.ts";
import { recordFiles } from "./data-files.ts";
import { type ImportKind, storeEach } from "./import-file.ts";

const schema = z.object(qosProfileRecord.shape).superRefine((profile, context) => {
  const field = contradictionIn(profile);
  if (field !== undefined)
    context.addIssue({ code: "custom", path: [field], message: "exceeds its maximum" });
});

/** The QoS catalogue. */
export const qosProfiles: ImportKind<typeof schema> = {
  file: recordFiles["qos-profiles"],
  table,
  schema,
  identities: ({ name }) => [{ field: "name", value: name }],
  begin: () => ({ write: storeEach(replaceQosProfile) }),
};
