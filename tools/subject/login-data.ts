import { streamsKey } from "../../functions/population-density/callers/stream-store.ts";
import { densityCallers } from "../../functions/population-density/callers/tables.ts";
import { type Permit, permitsOf } from "../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../functions/population-density/delivery/permit-store.ts";
import { densityJobs, densityPermits } from "../../functions/population-density/delivery/tables.ts";
import { eraseWebhookSecrets } from "../../functions/population-density/webhook-secrets/store.ts";
import { webhookSecrets } from "../../functions/population-density/webhook-secrets/tables.ts";
import { addressOf } from "../../functions/profile/rules.ts";
import { loginAttempts, profileRecord } from "../../functions/profile/tables.ts";
import { getItems } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { quotas } from "../../shared/quota/table.ts";
import { clockToleranceSeconds } from "../../shared/tokens/token.ts";
import { longestTokenLifetimeSeconds } from "../../shared/variables/token-lifetime-seconds.ts";
import type { StoredItem } from "../aws/scan-items.ts";
import { itemsAsStored, itemsContaining, itemsWith, patience, type StoredData } from "./stored-items.ts";

/** What the requests of a person's logins have left: the service knows their caller by a hash of the login's number. */
export async function loginData(logins: readonly StoredItem[]): Promise<readonly StoredData[]> {
  if (logins.length === 0) return [];
  const profiles = logins.map((login) => profileRecord.parse(login));
  const clients = clientsOf(logins);
  const callers = clients.map(hashed);
  const addresses = profiles.map(({ EmailAddress }) => hashed(addressOf(EmailAddress)));
  const keys = callers.map((caller) => ({ caller }));
  const withoutCaller = ({ caller: _, ...shown }: StoredItem) => shown;
  return [
    {
      table: densityJobs,
      items: await itemsWith(densityJobs, "caller", callers),
      shown: ({ caller: _, accessToken: __, requestHash: ___, ...shown }) => shown,
    },
    {
      table: densityPermits,
      items: (await heldBy(callers)).map((permit) => ({ ...permit })),
      shown: withoutCaller,
      erase: () => removePermits(callers),
    },
    {
      table: densityCallers,
      items: await getItems(itemsAsStored(densityCallers), [...keys, ...clients.map(streamsKey)], patience()),
      shown: withoutCaller,
    },
    {
      table: webhookSecrets,
      items: await getItems(itemsAsStored(webhookSecrets), keys, patience()),
      shown: withoutSecrets,
    },
    { table: quotas, items: await getItems(itemsAsStored(quotas), keys, patience()), shown: withoutCaller },
    {
      table: loginAttempts,
      items: await itemsContaining(loginAttempts, "counted", addresses),
      shown: ({ counted: _, ...shown }) => shown,
    },
  ];
}

/** Time enough for a login under way to give its token, and for the deletion of the logins, which is limited. */
const erasingSeconds = 600;

/**
 * Lets logins that are about to be deleted leave no webhook secret, until every token of theirs has expired. What the
 * stage's `TOKEN_LIFETIME_SECONDS` is or was does not matter.
 */
export async function refuseSecretsOf(logins: readonly StoredItem[]): Promise<void> {
  const lastTokenSeconds = longestTokenLifetimeSeconds + clockToleranceSeconds + erasingSeconds;
  const until = Math.ceil(Date.now() / 1_000) + lastTokenSeconds;
  const signal = patience();
  await Promise.all(clientsOf(logins).map((client) => eraseWebhookSecrets(hashed(client), until, signal)));
}

/** The clients that tokens of logins name. */
function clientsOf(logins: readonly StoredItem[]): string[] {
  return logins.map((login) => String(profileRecord.parse(login).ID));
}

function withoutSecrets(item: StoredItem): StoredItem {
  const { secrets } = webhookSecrets.schema.parse(item);
  return { secrets: Object.entries(secrets).map(([id, { createdAt }]) => ({ id, createdAt })) };
}

/** The permits of callers' uploads, which are members of one item. */
async function heldBy(callers: readonly string[]): Promise<readonly Permit[]> {
  return permitsOf(await permitStore.read(patience()), callers);
}

async function removePermits(callers: readonly string[]): Promise<void> {
  const held = await heldBy(callers);
  if (held.length > 0) await permitStore.remove(held, patience());
}
