import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { generateApi } from "swagger-typescript-api";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { tsc } from "../support/compiler.ts";
import { demoLogin } from "../support/demo-login.ts";
import { sharedService } from "../support/service.ts";
import { openSink, type TestSink } from "../support/sink.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * What somebody writes who has nothing but the client: it is given no address, and no shape but the client's.
 * Indented, so that no reader of this file takes the import for one of its own.
 */
const programWith = (sink: string) => `
  import { type AcceptedOperation, Api, type ErrorInfo, type PopulationDensityRequest } from "./client.mts";

  interface Given {
    readonly fetch: typeof fetch;
    readonly startTime: string;
    readonly endTime: string;
  }

  const apiWith = (customFetch: typeof fetch) =>
    new Api<string>({
      customFetch,
      securityWorker: (token) => ({ headers: { authorization: "Bearer " + token } }),
    });

  export async function useService({ fetch, startTime, endTime }: Given) {
    const api = apiWith(fetch);
    const login = await api.profile.authenticateProfile(${JSON.stringify(demoLogin)});
    api.setSecurityData(login.data.Data.access_token);

    const request: PopulationDensityRequest = {
      area: {
        areaType: "POLYGON",
        boundary: [
          { latitude: 45.754114, longitude: 4.860374 },
          { latitude: 45.753845, longitude: 4.863185 },
          { latitude: 45.75249, longitude: 4.861876 },
        ],
      },
      startTime,
      endTime,
    };
    const later = await api.populationDensity.retrievePopulationDensity({
      ...request,
      sink: ${JSON.stringify(sink)},
    });
    // The generator types a response after the first of its success statuses.
    const { operationId } = later.data as unknown as AcceptedOperation;
    return {
      operationId,
      atOnce: (await api.populationDensity.retrievePopulationDensity(request)).data,
      refused: await api.qosProfiles.getQosProfile("NOBODY").then(
        () => undefined,
        ({ status, error }: { status: number; error: ErrorInfo }) => ({ status, code: error.code }),
      ),
    };
  }

  /** Never called: what the types say. */
  export async function typed(api: Api<string>) {
    const { data: profile } = await api.qosProfiles.getQosProfile("QOS_E");
    const status: "ACTIVE" | "INACTIVE" | "DEPRECATED" = profile.status;
    const { data: density } = await api.populationDensity.retrievePopulationDensity({
      // @ts-expect-error an area of another type
      area: { areaType: "CIRCLE", boundary: [{ latitude: 1, longitude: 1 }] },
      startTime: "",
      endTime: "",
    });
    const people: number | undefined =
      density.timedPopulationDensityData[0]?.cellPopulationDensityData[0]?.pplDensity;
    // @ts-expect-error a point without a longitude
    const point: PopulationDensityRequest["area"]["boundary"][number] = { latitude: 1 };
    // @ts-expect-error a request without its day
    await api.numberRecycling.checkNumberRecycling({ phoneNumber: "+34600000012" });
    // @ts-expect-error a member that no device has
    const { serialNumber } = (await api.deviceIdentifier.retrieveIdentifier({})).data;
    return { status, people, point, serialNumber };
  }
`;

/** The part of the program that the test runs, as its caller sees it. */
interface Program {
  useService(given: {
    readonly fetch: typeof fetch;
    readonly startTime: string;
    readonly endTime: string;
  }): Promise<{ readonly operationId: string; readonly atOnce: unknown; readonly refused: unknown }>;
}

/** The client, and a program that uses it, in a folder where both can be compiled. */
async function writeProgram(folder: string, sink: string): Promise<void> {
  const { files } = await generateApi({
    url: `${sharedService.url}/openapi.json`,
    output: false,
    silent: true,
    httpClientType: "fetch",
    moduleNameFirstTag: true,
    generateUnionEnums: true,
  });
  await writeFile(join(folder, "client.mts"), files.map(({ fileContent }) => fileContent).join("\n"));
  await writeFile(join(folder, "program.mts"), programWith(sink));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  // The client is for browsers too, and names types of theirs.
  // It gives optional query parameters as undefined, which this option, no part of `strict`, would refuse.
  const compilerOptions = { lib: ["es2023", "dom"], exactOptionalPropertyTypes: false };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions,
      include: [],
      files: ["program.mts"],
    }),
  );
}

async function load(folder: string): Promise<Program> {
  const outfile = join(folder, "program.mjs");
  await build({ entryPoints: [join(folder, "program.mts")], outfile, bundle: true, format: "esm" });
  return await import(pathToFileURL(outfile).href);
}

const hour = 3_600_000;
const fromNow = (hours: number) => new Date((Math.floor(Date.now() / hour) + hours) * hour).toISOString();

let folder: string;
let sink: TestSink;
let sinkUrl: string;
let used: Awaited<ReturnType<Program["useService"]>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "network-capabilities-client-"));
  sink = await openSink();
  sinkUrl = sink.urlOf();
  await writeProgram(folder, sinkUrl);
  const { useService } = await load(folder);
  used = await useService({ fetch, startTime: fromNow(1), endTime: fromNow(2) });
});
afterAll(async () => {
  await sink.close();
  await rm(folder, { recursive: true, force: true });
});

test("a generated client compiles with a program that uses it, and its types refuse mistakes", async () => {
  expect(await tsc(["--noEmit", "--pretty", "false", "-p", folder])).toBe("");
});

test("a generated client gets densities at once, and delivered to its sink", async () => {
  const atOnce = retrievePopulationDensity.responses[200].parse(used.atOnce);
  expect(atOnce.timedPopulationDensityData[0]?.cellPopulationDensityData.length).toBeGreaterThan(0);

  await vi.waitFor(
    () => {
      const bodies = sink.received(sinkUrl).map(({ body }) => JSON.parse(body));
      expect(bodies).toContainEqual({ ...atOnce, operationId: used.operationId });
    },
    { timeout: 25_000 },
  );
  const { callback } = retrievePopulationDensity;
  for (const { headers, body } of sink.received(sinkUrl)) {
    expect(z.object(callback.headers).safeParse(headers).error).toBeUndefined();
    expect(callback.body.safeParse(JSON.parse(body)).error).toBeUndefined();
  }
});

test("a generated client gets an error with its status and code", () => {
  expect(used.refused).toEqual({ status: 404, code: "NOT_FOUND" });
});
