import { authorizerContext, eventOf } from "./pipeline.ts";
import { callStreamed } from "./streamed.ts";

/** How a request differs from one with no headers, of a caller who reads at once. */
export interface How extends NonNullable<Parameters<typeof callStreamed>[2]> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client that asks for densities; the handler runs in this process, with the tables of `useHarness`. */
export function densityCaller(client: string = crypto.randomUUID()) {
  const authorizer = () => authorizerContext({ scope: "population-density-data:read", client });
  const retrieve = async (body: unknown, { headers = {}, ...circumstances }: How = {}) => {
    const { handler } = await import("../../functions/population-density/retrieve.ts");
    const event = eventOf({ body: JSON.stringify(body), headers, authorizer: authorizer() });
    return await callStreamed(handler, event, circumstances);
  };
  return { client, authorizer, retrieve };
}
