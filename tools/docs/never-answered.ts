import type { EndpointId, ProtocolEndpointId } from "../../functions/areas.ts";
import type { Code } from "../../shared/errors.ts";

const readsNothing = "what it needs is in its bundle and its variables";

/** Codes that an operation may have by the contract, but that its function never answers with, and why. */
export const neverAnswered: Readonly<
  Partial<Record<EndpointId | ProtocolEndpointId, Readonly<Partial<Record<Code, string>>>>>
> = {
  "qos-profiles/retrieve": { NOT_FOUND: "no match is an empty list" },
  "qos-profiles/get-by-name": { OUT_OF_RANGE: "a name has no range: another length is `INVALID_ARGUMENT`" },
  "population-density/retrieve": { NOT_FOUND: "an unknown area is 200 `AREA_NOT_SUPPORTED`" },
  "openapi/publish": { INTERNAL: readsNothing, UNAVAILABLE: readsNothing, TIMEOUT: readsNothing },
  "openapi/catalog": { INTERNAL: readsNothing, UNAVAILABLE: readsNothing, TIMEOUT: readsNothing },
  "oauth2/metadata": { INTERNAL: readsNothing, UNAVAILABLE: readsNothing, TIMEOUT: readsNothing },
};
