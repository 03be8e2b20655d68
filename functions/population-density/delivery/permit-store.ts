import * as z from "zod/mini";
import { getItem, putItem, updateItem } from "../../../shared/aws/database.ts";
import { withSchema } from "../../../shared/table.ts";
import type { PermitStore } from "./ports.ts";
import { densityPermits } from "./tables.ts";

/**
 * All permits are a set in one item: there are hardly more of them than workers, and all limits can be checked together.
 */
const permitsKey = { limit: "permits", entry: "all" };

const acceptances = withSchema(densityPermits, z.object({}));

const acceptanceSeconds = 90 * 86_400;

/** The table of permits: those in use, and the hosts that have answered 2xx. */
export const permitStore: PermitStore = {
  async read(signal) {
    const found = await getItem(densityPermits, permitsKey, signal);
    const { permits = [], released = new Set<string>(), version = 0 } = found ?? {};
    const inUse = permits.filter(({ holder }) => holder === undefined || !released.has(holder));
    return { permits: inUse, released, version };
  },

  replace({ released, version }, permits, signal) {
    const write = {
      update: `SET permits = :permits, #version = :next${released.size === 0 ? "" : " DELETE released :released"}`,
      condition: version === 0 ? "attribute_not_exists(#version)" : "#version = :version",
      names: { "#version": "version" },
      values: {
        ":permits": JSON.stringify(permits),
        ":next": version + 1,
        ...(version === 0 ? {} : { ":version": version }),
        ...(released.size === 0 ? {} : { ":released": released }),
      },
    };
    return updateItem(densityPermits, permitsKey, write, signal);
  },

  async release(holder, signal) {
    const write = {
      update: "ADD released :holder",
      condition: "attribute_exists(#version)",
      names: { "#version": "version" },
      values: { ":holder": new Set([holder]) },
    };
    await updateItem(densityPermits, permitsKey, write, signal);
  },

  async recordAcceptance(host, signal) {
    const item = { limit: "agreed", entry: host, expiresAt: expiryIn(acceptanceSeconds) };
    await putItem(densityPermits, item, {}, signal);
  },

  async hasAccepted(host, signal) {
    const key = { limit: "agreed", entry: host };
    return (await getItem(acceptances, key, signal)) !== undefined;
  },
};

function expiryIn(seconds: number): number {
  return Math.ceil(Date.now() / 1_000) + seconds;
}
