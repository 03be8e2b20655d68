import { historyOf, replaceHistory } from "../../functions/number-recycling/store.ts";
import { numberAssignment, numberAssignments } from "../../functions/number-recycling/tables.ts";
import { deleteClient, findClient } from "../../functions/oauth2/store.ts";
import { clientRecord, clients } from "../../functions/oauth2/tables.ts";
import { addressOf } from "../../functions/profile/rules.ts";
import { deleteProfile, findProfile } from "../../functions/profile/store.ts";
import { profileRecord, profiles } from "../../functions/profile/tables.ts";
import { deleteQosProfile } from "../../functions/qos-profiles/store.ts";
import { qosProfileRecord, qosProfiles } from "../../functions/qos-profiles/tables.ts";
import { getItem } from "../../shared/aws/database.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { phoneIdentifier, subscriptionIdentifier } from "../../shared/devices/keys.ts";
import { deviceRecord } from "../../shared/devices/record.ts";
import { deleteDevice } from "../../shared/devices/store.ts";
import { devices } from "../../shared/devices/table.ts";
import type { Table } from "../../shared/table.ts";
import { type StoredItem, scanItems } from "../aws/scan-items.ts";
import type { RecordKind } from "./data-files.ts";
import { isLease, withLeases } from "./table-lease.ts";

/** Records of a kind as they are stored. */
interface StoredKind {
  readonly table: Table;
  /**
   * What `list` shows of a record and `delete` takes, and the record as `import` takes it; undefined for a further item
   * of the same record.
   */
  readonly read: (item: StoredItem) => StoredRecord | undefined;
  /** Deletes all of an identity, unless it is only looked for. Returns whether there was any of it. */
  readonly delete: (identity: string, isDryRun: boolean, signal: AbortSignal) => Promise<boolean>;
}

/** A record as it is stored. */
export interface StoredRecord {
  readonly identity: string;
  readonly content: object;
}

const kinds: Readonly<Record<RecordKind, StoredKind>> = {
  profiles: {
    table: profiles,
    read: (item) => {
      // A password cannot be recovered from its hash.
      const { passwordHash: _, ...content } = profileRecord.parse(item);
      return { identity: content.EmailAddress, content };
    },
    delete: async (email, isDryRun, signal) => {
      const address = addressOf(email);
      return isDryRun
        ? (await findProfile(address, signal)) !== undefined
        : await deleteProfile(address, signal);
    },
  },
  "qos-profiles": {
    table: qosProfiles,
    read: (item) => {
      const content = qosProfileRecord.parse(item);
      return { identity: content.name, content };
    },
    delete: async (name, isDryRun, signal) =>
      isDryRun
        ? (await getItem(qosProfiles, { catalogue: "qos-profiles", name }, signal)) !== undefined
        : await deleteQosProfile(name, signal),
  },
  devices: {
    table: devices,
    // The same record is stored under each of its identifiers.
    read: (item) => {
      if (!String(item.identifier).startsWith(subscriptionIdentifier("").key)) return undefined;
      const content = deviceRecord.parse(item);
      return { identity: content.subscription, content };
    },
    delete: async (identity, isDryRun, signal) => {
      const { key } = identity.startsWith("+") ? phoneIdentifier(identity) : subscriptionIdentifier(identity);
      const device = await getItem(devices, { identifier: key }, signal);
      if (device !== undefined && !isDryRun) await deleteDevice(device, signal);
      return device !== undefined;
    },
  },
  "number-assignments": {
    table: numberAssignments,
    read: (item) => {
      const content = numberAssignment.parse(item);
      return { identity: content.phoneNumber, content };
    },
    delete: async (phoneNumber, isDryRun, signal) => {
      const history = await historyOf(phoneNumber, signal);
      if (history.length > 0 && !isDryRun) await replaceHistory(phoneNumber, [], signal);
      return history.length > 0;
    },
  },
  clients: {
    table: clients,
    read: (item) => {
      const content = clientRecord.parse(item);
      return { identity: content.clientId, content };
    },
    delete: async (clientId, isDryRun, signal) =>
      isDryRun ? (await findClient(clientId, signal)) !== undefined : await deleteClient(clientId, signal),
  },
};

/** All records of a kind, in no order. */
export async function* storedRecords(kind: RecordKind): AsyncGenerator<StoredRecord> {
  const { table, read } = kinds[kind];
  for await (const items of scanItems(table)) {
    yield* items.filter((item) => !isLease(table, item)).flatMap((item) => read(item) ?? []);
  }
}

/**
 * Deletes what is stored of some identities: addresses of logins, names of QoS profiles, subscriptions or phone numbers
 * of devices, phone numbers with their whole history, ids of clients.
 * @param isDryRun looks for them only.
 * @returns the identities of which nothing is stored.
 */
export async function deleteRecords(
  kind: RecordKind,
  identities: readonly string[],
  isDryRun: boolean,
): Promise<string[]> {
  const { table } = kinds[kind];
  const isLeased = !isDryRun && table.personalData === true;
  // An import that runs meanwhile may be about to write what is deleted.
  return await withLeases(isLeased ? [table] : [], async (renew) => {
    const missing: string[] = [];
    for (const identity of identities) {
      await renew();
      const signal = AbortSignal.timeout(patienceMilliseconds);
      if (!(await kinds[kind].delete(identity, isDryRun, signal))) missing.push(identity);
    }
    return missing;
  });
}
