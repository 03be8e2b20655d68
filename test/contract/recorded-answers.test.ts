import { expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { replayEvent } from "../support/replay-event.ts";

/** Areas whose answers depend on nothing but the request and the demo data. */
const areas = ["device-identifier", "number-recycling", "qos-profiles"];
/** Its answers depend on a key that each start makes. */
const keyed = "device-identifier/retrieve-ppid";

const specified = new Set(endpoints.map(({ path }): string => path));
const names = eventFileNames().filter((name) => areas.includes(name.split("/")[0] ?? ""));
const events = (await Promise.all(names.map(async (name) => ({ name, ...(await readNamedEvent(name)) }))))
  .filter(({ functionId }) => functionId !== keyed)
  .filter(({ event }) => specified.has((event as { readonly resource: string }).resource));

// To record anew, on purpose: npx vitest run -u test/contract/recorded-answers.test.ts
test("every answer on a path of the specification is the recorded one, byte by byte", async () => {
  const answers: Record<string, string> = {};
  for (const { name, functionId, event } of events) {
    const { statusCode, body } = await replayEvent(functionId, event);
    answers[name] = `${statusCode} ${body}`;
  }
  await expect(`${JSON.stringify(answers, null, 2)}\n`).toMatchFileSnapshot("recorded-answers.json");
});
