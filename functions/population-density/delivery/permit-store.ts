import * as z from "zod/mini";
import { getItem, putItem, updateItem, updateWithPrevious } from "../../../shared/aws/database.ts";
import { withSchema } from "../../../shared/table.ts";
import type { Permit } from "./permit-rules.ts";
import type { PermitStore } from "./ports.ts";
import { densityPermits, permitsKey } from "./tables.ts";

const acceptances = withSchema(densityPermits, z.object({}));

const acceptanceSeconds = 90 * 86_400;

/** The table of permits: those in use, and the hosts that have answered 2xx. */
export const permitStore: PermitStore = {
  async read(signal) {
    return permitsIn(await getItem(densityPermits, permitsKey, signal));
  },

  async add(permit, signal) {
    const write = {
      update: "ADD held :permits SET expiresAt = :expiresAt",
      values: { ":permits": new Set([entryOf(permit)]), ":expiresAt": expiryOf(permit) },
    };
    return permitsIn(await updateWithPrevious(densityPermits, permitsKey, write, signal));
  },

  async remove(permits, signal) {
    const write = {
      update: "DELETE held :permits",
      condition: "attribute_exists(held)",
      values: { ":permits": new Set(permits.map(entryOf)) },
    };
    await updateItem(densityPermits, permitsKey, write, signal);
  },

  async recordAcceptance(host, signal) {
    const item = { limit: "accepted-host", entry: host, expiresAt: expiryIn(acceptanceSeconds) };
    await putItem(densityPermits, item, {}, signal);
  },

  async hasAccepted(host, signal) {
    const key = { limit: "accepted-host", entry: host };
    return (await getItem(acceptances, key, signal)) !== undefined;
  },
};

/** Long after the last permit has: a lost worker's names its caller, and only another upload removes it. */
function expiryOf({ until }: Permit): number {
  return Math.ceil(until / 1_000) + 86_400;
}

function expiryIn(seconds: number): number {
  return Math.ceil(Date.now() / 1_000) + seconds;
}

function permitsIn(item: { readonly held?: ReadonlySet<string> | undefined } | undefined): Permit[] {
  return [...(item?.held ?? [])].map((entry) => permitEntry.parse(entry.split(" ")));
}

/** An entry of the set, as short as possible: hashes and ids have no spaces. */
function entryOf({ host, caller, mode, holder, since, until }: Permit): string {
  return [host, caller, mode === "answer" ? "a" : "f", holder, since.toString(36), until.toString(36)].join(
    " ",
  );
}

const time = z.pipe(
  z.string(),
  z.transform((text) => Number.parseInt(text, 36)),
);

const permitEntry = z.pipe(
  z.tuple([z.string(), z.string(), z.enum(["a", "f"]), z.string(), time, time]),
  z.transform(
    ([host, caller, mode, holder, since, until]): Permit => ({
      host,
      caller,
      mode: mode === "a" ? "answer" : "failure",
      holder,
      since,
      until,
    }),
  ),
);
