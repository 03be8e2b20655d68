import createFetchClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.d.ts";

/** What a client is made with. */
export interface ClientOptions {
  /** The address of the service, with its stage or base path: `https://api.operator.example/live`. */
  readonly baseUrl: string;
  /** An access token, or what gives one for each request, as {@link login} does. */
  readonly token: string | (() => string | Promise<string>);
  /** In place of the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/**
 * `GET`, `POST` and `DELETE` of every path of the service; each resolves to `data` or `error`, and `response`. For
 * densities in another format than JSON, send its `Accept` and take the body with `parseAs: "text"`.
 */
export type NetworkCapabilities = Client<paths, "application/json">;

/** A client that sends a bearer token with each request. */
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
