import { getItem, type Update, updateItem } from "../../../shared/aws/database.ts";
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
 * @returns `false` if the caller has two others.
 */
export async function storeWebhookSecret(
  caller: string,
  { id, ...stored }: WebhookSecret,
  signal: AbortSignal,
): Promise<boolean> {
  const write = (update: Update) => updateItem(webhookSecrets, { caller }, update, signal);
  const further = {
    update: "SET #secrets.#id = :stored",
    // The second part lets a repeated write succeed whose first response was lost.
    condition: "size(#secrets) < :limit OR attribute_exists(#secrets.#id)",
    names: { ...names, "#id": id },
    values: { ":stored": stored, ":limit": maxWebhookSecrets },
  };
  const first = {
    update: "SET #secrets = :secrets",
    condition: "attribute_not_exists(#secrets)",
    names,
    values: { ":secrets": { [id]: stored } },
  };
  // One of several concurrent first requests creates the map.
  return (await write(further)) || (await write(first)) || (await write(further));
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
