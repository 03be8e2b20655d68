import { type SampleRequest, sampleRequests } from "../../tools/verify/sample-requests.ts";

/** Every request of `events/` with a successful response. */
export async function goodRequests(): Promise<readonly SampleRequest[]> {
  return (await sampleRequests()).filter(({ status }) => status < 300);
}

/** The same request, with another sink if it has one. */
export function withSink(request: SampleRequest, sinkOf: () => string): SampleRequest {
  const body = request.body?.replace(/("sink":")[^"]*"/, (_, start: string) => `${start}${sinkOf()}"`);
  return { ...request, body };
}
