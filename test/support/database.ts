import { inject } from "vitest";

/** Lets the stores of the project work on the tables of the local service, as a function's would. */
export function useTables(): void {
  Object.assign(process.env, inject("tableNames"), {
    AWS_ENDPOINT_URL_DYNAMODB: inject("databaseEndpoint"),
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? "local",
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? "local",
  });
}
