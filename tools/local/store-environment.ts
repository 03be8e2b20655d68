import type { LocalBackend } from "./service.ts";

/** The environment in which a program's stores use the tables of a local service. */
export function storeEnvironment({ tableNames, environmentOf }: LocalBackend): Record<string, string> {
  const ofAws = Object.entries(environmentOf("keys/publish")).filter(([name]) =>
    /^AWS_(?!LAMBDA_)/.test(name),
  );
  return { ...Object.fromEntries(ofAws), ...tableNames };
}
