import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { generateApi } from "swagger-typescript-api";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { type EndpointId, endpoints } from "../../functions/areas.ts";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { tsc } from "../support/compiler.ts";
import { openSink, type TestSink } from "../support/sink.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * What somebody writes who has nothing but the client: it is told no address, and no shape but the client's.
 * Indented, so that no reader of this file takes the import for one of its own.
 */
const program = `
  import { type AcceptedOperation, Api, type Error, type PopulationDensityRequest } from "./client.mts";

  interface Given {
    readonly fetch: typeof fetch;
    readonly sink: string;
    readonly startTime: string;
    readonly endTime: string;
  }

  export async function useService({ fetch: customFetch, sink, startTime, endTime }: Given) {
    const api = new Api<string>({
      customFetch,
      securityWorker: (token) => ({ headers: { authorization: "Bearer " + token } }),
    });
    const login = await api.profile.authenticate({
      emailaddress: "app@example.com",
      password: "correct horse battery staple",
    });
    api.setSecurityData(login.data.Data.access_token);

    const device = { phoneNumber: "+34600000001" };
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
    const later = await api.populationDensity.retrievePopulationDensity({ ...request, sink });
    // The generator types a response after the first of its success statuses.
    const { operationId } = later.data as unknown as AcceptedOperation;
    return {
      operationId,
      answers: {
        "profile/authenticate": [login],
        "qos-profiles/retrieve": [await api.qosProfiles.retrieveQosProfiles({ device, status: "ACTIVE" })],
        "qos-profiles/get-by-name": [await api.qosProfiles.getQosProfile("QOS_E")],
        "population-density/retrieve": [
          await api.populationDensity.retrievePopulationDensity(request),
          later,
        ],
        "number-recycling/check": [
          await api.numberRecycling.checkNumberRecycling({
            phoneNumber: "+34600000012",
            specifiedDate: "2023-12-22",
          }),
        ],
        "device-identifier/retrieve": [await api.deviceIdentifier.retrieveIdentifier({ device })],
        "keys/publish": [await api.keys.publishKeys()],
        "openapi/publish": [await api.openapi.publishDocument()],
      },
      refused: await api.qosProfiles.getQosProfile("NOBODY").then(
        () => undefined,
        ({ status, error }: { status: number; error: Error }) => ({ status, code: error.code }),
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
    readonly sink: string;
    readonly startTime: string;
    readonly endTime: string;
  }): Promise<{
    readonly operationId: string;
    readonly answers: Readonly<Record<EndpointId, readonly ClientAnswer[]>>;
    readonly refused: unknown;
  }>;
}

interface ClientAnswer {
  readonly status: number;
  readonly data: unknown;
}

/** The client, and a program that uses it, in a folder where both can be compiled. */
async function writeProgram(folder: string): Promise<void> {
  const { files } = await generateApi({
    url: `${inject("url")}/openapi.json`,
    output: false,
    silent: true,
    httpClientType: "fetch",
    moduleNameFirstTag: true,
    generateUnionEnums: true,
  });
  await writeFile(join(folder, "client.mts"), files.map(({ fileContent }) => fileContent).join("\n"));
  await writeFile(join(folder, "program.mts"), program);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  // The client is for browsers too, and names types of theirs.
  const compilerOptions = { lib: ["es2023", "dom"] };
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

describe("a client generated from the document that the service serves", () => {
  const called: string[] = [];
  let folder: string;
  let sink: TestSink;
  let used: Awaited<ReturnType<Program["useService"]>>;

  const recordingFetch: typeof fetch = (input, init) => {
    called.push(`${init?.method} ${String(input)}`);
    return fetch(input, init);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "network-capabilities-client-"));
    sink = await openSink();
    await writeProgram(folder);
    const { useService } = await load(folder);
    const [startTime, endTime] = [fromNow(1), fromNow(2)];
    used = await useService({ fetch: recordingFetch, sink: sink.urlOf(), startTime, endTime });
  });
  afterAll(async () => {
    await sink.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("has types that accept the program, and refuse its mistakes", async () => {
    expect(await tsc(["--noEmit", "--pretty", "false", "-p", folder])).toBe("");
  });

  test("calls every endpoint, at the address that the document says", () => {
    const uncalled = ([...endpoints] as Endpoint[]).filter(
      ({ method, path }) => !called.includes(`${method} ${inject("url")}${path.replace("{name}", "QOS_E")}`),
    );
    expect(uncalled.map(({ id }) => id)).toEqual([]);
  });

  test.each(endpoints.map((endpoint) => [endpoint.id, endpoint] as const))(
    "gets of %s what it declares, under each of its success statuses",
    (id, endpoint: Endpoint) => {
      const answers = used.answers[id];
      expect(answers.map(({ status }) => `${status}`)).toEqual(Object.keys(endpoint.responses));
      for (const { status, data } of answers) {
        expect(endpoint.responses[status]?.safeParse(data).error).toBeUndefined();
      }
    },
  );

  test("gets the densities at once, and delivered to its sink", async () => {
    const [{ data } = { data: undefined }] = used.answers["population-density/retrieve"];
    const atOnce = retrievePopulationDensity.responses[200].parse(data);
    expect(atOnce.timedPopulationDensityData[0]?.cellPopulationDensityData.length).toBeGreaterThan(0);

    await vi.waitFor(() => expect(sink.received()).toHaveLength(1), { timeout: 10_000 });
    const [{ body } = { body: "" }] = sink.received();
    expect(JSON.parse(body)).toEqual({ ...atOnce, operationId: used.operationId });
  });

  test("gets errors in their one form", () => {
    expect(used.refused).toEqual({ status: 404, code: "NOT_FOUND" });
  });
});
