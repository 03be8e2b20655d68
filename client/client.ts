import createFetchClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.d.ts";

/** What a client needs. */
export interface ClientOptions {
  /** The address of the service, with its stage or base path: `https://api.operator.example/live`. */
  readonly baseUrl: string;
  /** An access token, or a function that returns one for each request, as {@link login} does. */
  readonly token: string | (() => string | Promise<string>);
  /** Replaces the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/**
 * `GET`, `POST` and `DELETE` for every path of the service; each resolves to `data` or `error`, and `response`. For
 * densities in a format other than JSON, send its `Accept` and read the body with `parseAs: "text"`.
 */
export type NetworkCapabilities = Client<paths, "application/json">;

/** Creates a client that sends a bearer token with each request. */
export function createClient({ baseUrl, token, fetch }: ClientOptions): NetworkCapabilities {
  const client = createFetchClient<paths, "application/json">({
    baseUrl,
    ...(fetch === undefined ? {} : { fetch }),
  });
  client.use({
    async onRequest({ request }) {
      request.headers.set("authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
      return request;
    },
  });
  return client;
}
