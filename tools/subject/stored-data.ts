import { numberAssignments } from "../../functions/number-recycling/tables.ts";
import { profiles } from "../../functions/profile/tables.ts";
import { pseudonymOf } from "../../shared/access-records/pseudonym.ts";
import { accessRecords } from "../../shared/access-records/table.ts";
import { getItem, getItems, queryPartition } from "../../shared/aws/database.ts";
import { keysOf, phoneIdentifier, subscriptionIdentifier } from "../../shared/devices/keys.ts";
import { devices } from "../../shared/devices/table.ts";
import { pseudonymKey } from "../../shared/pseudonym-keys/key.ts";
import type { StoredItem } from "../aws/scan-items.ts";
import { loginData, refuseSecretsOf } from "./login-data.ts";
import { itemsAsStored, itemsWith, patience, type StoredData } from "./stored-items.ts";

/** A person, and how the operator has named them. */
export interface Subject {
  readonly subscription: string;
  /** The subscription, or a phone number. */
  readonly named: string;
}

/**
 * Everything that is stored about a person, table by table. What leads to the rest comes last, so that a deletion in
 * this order can be repeated after an interruption, with the person named in the same way.
 */
export async function storedData(subject: Subject): Promise<readonly StoredData[]> {
  const logins = await itemsWith(profiles, "subscription", [subject.subscription]);
  const all: readonly StoredData[] = [
    ...(await loginData(logins)),
    {
      table: profiles,
      items: logins,
      shown: ({ address: _, passwordHash: __, ...shown }) => shown,
      owner: "subscription",
      beforehand: () => refuseSecretsOf(logins),
    },
    {
      table: accessRecords,
      items: await recordedAccesses(subject),
      shown: ({ subject: _, ...shown }) => shown,
    },
    {
      table: numberAssignments,
      items: await assignments(subject),
      shown: (item) => item,
      owner: "subscriber",
    },
    {
      table: devices,
      items: await deviceItems(subject),
      shown: ({ identifier: _, ...shown }) => shown,
      owner: "subscription",
    },
  ];
  return all.filter(({ items }) => items.length > 0);
}

/** The access records of a person. */
export async function recordedAccesses({ subscription }: Subject): Promise<StoredItem[]> {
  const signal = patience();
  const key = await pseudonymKey("access-records", signal);
  if (key === undefined) return [];
  return await queryPartition(itemsAsStored(accessRecords), pseudonymOf(subscription, key), signal);
}

/** The assignments of a person's numbers, the one last by which the person may have been found. */
async function assignments({ subscription, named }: Subject): Promise<StoredItem[]> {
  const rank = ({ phoneNumber, from }: StoredItem) => `${phoneNumber === named ? 1 : 0} ${from}`;
  const found = await itemsWith(numberAssignments, "subscriber", [subscription]);
  return found.sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

/** The items of a person's device, the one last by which it may have been found. */
async function deviceItems({ subscription, named }: Subject): Promise<StoredItem[]> {
  const signal = patience();
  const ownKey = subscriptionIdentifier(subscription).key;
  const namedKey = named === subscription ? ownKey : phoneIdentifier(named).key;
  const device =
    (await getItem(devices, { identifier: ownKey }, signal)) ??
    (await getItem(devices, { identifier: namedKey }, signal));
  if (device === undefined) return [];
  const rank = (identifier: unknown) => [ownKey, namedKey].lastIndexOf(String(identifier));
  const keys = keysOf(device).map((identifier) => ({ identifier }));
  const items = await getItems(itemsAsStored(devices), keys, signal);
  return items
    .filter((item) => item.subscription === subscription)
    .sort((one, other) => rank(one.identifier) - rank(other.identifier));
}
