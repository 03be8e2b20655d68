import { beforeAll, expect, test } from "vitest";
import { jobStore } from "../../functions/population-density/delivery/job-store.ts";
import { permitStore } from "../../functions/population-density/delivery/permit-store.ts";
import { freeAttempts } from "../../tools/local/free-attempts.ts";
import { useTables } from "../support/database.ts";
import { storeJob, useOwnJobs } from "../support/jobs.ts";
import { sharedService } from "../support/service.ts";
import { someJob } from "../support/some-job.ts";

beforeAll(async () => {
  useTables();
  await useOwnJobs();
});

const signal = () => AbortSignal.timeout(60_000);
const asked = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };
const [at, notBefore] = [Date.now(), Date.now() + 300_000];
const leased = { attempts: 1, startedAt: at, lease: "lease", notBefore };

test("a start on a kept folder begins attempts without an outcome at once, keeps the times of scheduled retries, and frees all permits", async () => {
  const lastAttempt = { number: 1, at };
  const begun = someJob("https://sink.example", asked, { ...leased, lastAttempt, possiblyDelivered: true });
  const failed = { ...lastAttempt, outcome: "failed" as const };
  const waiting = someJob("https://sink.example", asked, { ...leased, lastAttempt: failed });
  const fresh = someJob("https://sink.example", asked);
  for (const job of [begun, waiting, fresh]) await storeJob(job);
  const permit = { host: "host", caller: "caller", mode: "answer", holder: "lease", since: at } as const;
  await permitStore.add({ ...permit, until: notBefore }, signal());
  await permitStore.recordAcceptance("host", signal());

  await freeAttempts({ databaseEndpoint: sharedService.databaseEndpoint, tableNames: process.env });

  const read = (job: { readonly operationId: string }) => jobStore.read(job.operationId, signal());
  const { notBefore: _, ...due } = begun;
  expect(await Promise.all([begun, waiting, fresh].map(read))).toEqual([due, waiting, fresh]);
  expect(await permitStore.read(signal())).toEqual([]);
  expect(await permitStore.hasAccepted("host", signal())).toBe(true);
});
