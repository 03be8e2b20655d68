import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { sharedPorts } from "../../../functions/population-density/delivery/service-ports.ts";

afterEach(() => vi.unstubAllEnvs());

test("a deadline counts from its start, and DEADLINE_FACTOR of 30 extends all of it", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "30");
  const { deadline } = sharedPorts.clock;
  const began = Date.now() - 2_000;
  const over = deadline(50, began);
  if (!over.aborted) await once(over, "abort");
  expect(deadline(1_000, began).aborted).toBe(false);
});
