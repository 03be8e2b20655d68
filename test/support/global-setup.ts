import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { listen } from "../../tools/local/servers/listening-server.ts";
import type { startSharedService } from "./shared-service.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where `test/support/service.ts` asks for the shared service and what is made for it. */
    readonly starter: string;
  }
}

/** Lets the first test file that asks for the shared service start it, in the process that starts the tests. */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  // When the terminal is closed, ends as Vitest does at other signals: with its temporary folders removed.
  process.once("SIGHUP", () => process.exit(129));
  process.once("exit", () => tellTimes(Number(project.config.maxWorkers)));
  let starting: ReturnType<typeof startSharedService> | undefined;
  const server = createServer(async (request, response) => {
    try {
      starting ??= start();
      const { shared, pages, bundles, templates } = await starting;
      const made = { "/pages": pages, "/bundles": bundles, "/templates": templates }[request.url ?? ""];
      response.end(JSON.stringify(made === undefined ? shared : await made()));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  const starter = await listen(server, 0);
  project.provide("starter", starter.url);
  return async () => {
    await starter.close();
    await (await starting)?.close();
  };
}

/** Loads what a start needs only now: most files need no service. */
async function start(): ReturnType<typeof startSharedService> {
  const { startSharedService } = await import("./shared-service.ts");
  return await startSharedService();
}

/**
 * Says how much of a run was processor time, of this process, the workers and all that they have started, and how long
 * workers waited: for time-outs and pauses, and on a busy machine for a processor. Only Linux counts both.
 */
function tellTimes(workers: number): void {
  if (process.platform !== "linux") return;
  // User and system time of this process and of its children that have ended, in hundredths of a second: proc(5).
  const times = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ").slice(11, 15) ?? [];
  const seconds = times.reduce((sum, time) => sum + Number(time) / 100, 0);
  const waited = Math.max(0, workers * process.uptime() - seconds);
  console.log(` Processor ${seconds.toFixed(0)} s, waits ${waited.toFixed(0)} s (workers: ${workers})`);
}
