import * as z from "zod/mini";

/** The scopes of a token, with what each permits. */
export const scopes = {
  "qos-profiles:read": "List QoS profiles and read one by name.",
  "population-density-data:read": "Retrieve population density.",
  "number-recycling:check": "Check whether a phone number changed hands.",
  "device-identifier:retrieve-identifier": "Retrieve the identifiers of a subscriber's device.",
} as const;

/** The name of a scope. */
export type Scope = keyof typeof scopes;

/** The known scopes among the words of a space-separated list; unknown words open nothing. */
export function scopesIn(words: string): Scope[] {
  return [...new Set(words.split(" "))].filter((word): word is Scope => Object.hasOwn(scopes, word));
}

/** The name of a scope, checked. */
export const scopeName = z.enum(Object.keys(scopes) as [Scope, ...Scope[]]);
