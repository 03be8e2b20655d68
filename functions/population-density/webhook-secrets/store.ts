import { getItem, putItem, type Update, updateItem } from "../../../shared/aws/database.ts";
import { webhookSecrets } from "./tables.ts";

/** A secret that signs the deliveries of a caller. */
export interface WebhookSecret {
  readonly id: string;
  /** `whsec_` and the key in base64. */
  readonly secret: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** How many a caller may have: the one in use, and the one that replaces it. */
export const maxWebhookSecrets = 2;

const names = { "#secrets": "secrets" };

/**
 * Stores a secret of a caller.
 * @param caller hash of the caller.
 * @returns `"exhausted"` if the caller has two others, `"erased"` while the caller's erased login may have tokens.
 */
export async function storeWebhookSecret(
  caller: string,
  { id, ...stored }: WebhookSecret,
  now: Date,
  signal: AbortSignal,
): Promise<"stored" | "exhausted" | "erased"> {
  const write = (update: Update) => updateItem(webhookSecrets, { caller }, update, signal);
  const second = Math.floor(now.getTime() / 1_000);
  const further = {
    update: "SET #secrets.#id = :stored REMOVE expiresAt",
    // `attribute_exists` of the id lets a repeated write succeed whose first response was lost. The time is compared
    // because DynamoDB deletes what has expired days later.
    condition:
      "(size(#secrets) < :limit OR attribute_exists(#secrets.#id)) AND " +
      "(attribute_not_exists(expiresAt) OR expiresAt <= :second)",
    names: { ...names, "#id": id },
    values: { ":stored": stored, ":limit": maxWebhookSecrets, ":second": second },
  };
  const first = {
    update: "SET #secrets = :secrets",
    condition: "attribute_not_exists(#secrets)",
    names,
    values: { ":secrets": { [id]: stored } },
  };
  // One of several concurrent first requests creates the map.
  if ((await write(further)) || (await write(first)) || (await write(further))) return "stored";
  const { expiresAt = 0 } = (await getItem(webhookSecrets, { caller }, signal)) ?? {};
  return expiresAt > second ? "erased" : "exhausted";
}

/**
 * Replaces the secrets of a caller, by its hash, with an item that has none, and stores none before it expires: tokens
 * of an erased login would otherwise leave secrets that nobody finds any more.
 * @param until epoch second.
 */
export async function eraseWebhookSecrets(caller: string, until: number, signal: AbortSignal): Promise<void> {
  await putItem(webhookSecrets, { caller, secrets: {}, expiresAt: until }, {}, signal);
}

/** The secrets of a caller, by its hash; the oldest first. */
export async function readWebhookSecrets(
  caller: string,
  signal: AbortSignal,
): Promise<readonly WebhookSecret[]> {
  const { secrets = {} } = (await getItem(webhookSecrets, { caller }, signal)) ?? {};
  return Object.entries(secrets)
    .map(([id, stored]) => ({ id, ...stored }))
    .sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt));
}

/** The secrets of a caller, by its hash, as responses show them: without the secrets themselves. */
export async function listStoredSecrets(
  caller: string,
  signal: AbortSignal,
): Promise<Pick<WebhookSecret, "id" | "createdAt">[]> {
  const secrets = await readWebhookSecrets(caller, signal);
  return secrets.map(({ id, createdAt }) => ({ id, createdAt }));
}

/** Deletes a secret of a caller, by the caller's hash; nothing happens if the caller does not have it. */
export async function deleteStoredSecret(caller: string, id: string, signal: AbortSignal): Promise<void> {
  const write = {
    update: "REMOVE #secrets.#id",
    condition: "attribute_exists(#secrets.#id)",
    names: { ...names, "#id": id },
  };
  await updateItem(webhookSecrets, { caller }, write, signal);
}
