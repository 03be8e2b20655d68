import { expect } from "vitest";
import * as z from "zod";
import type { FunctionId } from "../../infra/functions.ts";
import { sharedService } from "./service.ts";

const answer = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

/** What a function of the service answers to an event, under the fault of this name if there is one. */
export async function invokeEvent(functionId: FunctionId, event: unknown, fault?: string) {
  const response = await fetch(sharedService.invocations, {
    method: "POST",
    body: JSON.stringify({ functionId, event, fault }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return answer.parse(JSON.parse(text));
}
