import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { generateApi } from "swagger-typescript-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { exampleBoundary, hourFromNow } from "../support/areas.ts";
import { tsc } from "../support/compiler.ts";
import { demoLogin } from "../support/demo-login.ts";
import { sharedService } from "../support/service.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * What somebody writes who has nothing but the client: it is given no address, and no shape but the client's.
 * Indented, so that no reader of this file takes the import for one of its own.
 */
const program = `
  import { Api, type ErrorInfo, type PopulationDensityRequest } from "./client.mts";

  export async function useService(startTime: string, endTime: string) {
    const api = new Api<string>({
      securityWorker: (token) => ({ headers: { authorization: "Bearer " + token } }),
    });
    const login = await api.profile.authenticateProfile(${JSON.stringify(demoLogin)});
    api.setSecurityData(login.data.Data.access_token);
    const request: PopulationDensityRequest = {
      area: { areaType: "POLYGON", boundary: ${JSON.stringify(exampleBoundary)} },
      startTime,
      endTime,
    };
    return {
      densities: (await api.populationDensity.retrievePopulationDensity(request)).data,
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

/** The client, and a program that uses it, in a folder where both can be compiled. */
async function writeProgram(folder: string): Promise<void> {
  const { files } = await generateApi({
    url: `${sharedService.url}/openapi.json`,
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

const loaded = z.object({
  useService:
    z.custom<(startTime: Date, endTime: Date) => Promise<{ densities: unknown; refused: unknown }>>(),
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "network-capabilities-client-"));
  await writeProgram(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a generated client compiles with a program that uses it, and its types refuse mistakes", async () => {
  expect(await tsc(["--noEmit", "--pretty", "false", "-p", folder])).toBe("");
});

test("a generated client logs in, gets densities, and gets an error with its status and code", async () => {
  const outfile = join(folder, "program.mjs");
  await build({ entryPoints: [join(folder, "program.mts")], outfile, bundle: true, format: "esm" });
  const { useService } = loaded.parse(await import(pathToFileURL(outfile).href));

  const { densities, refused } = await useService(hourFromNow(2), hourFromNow(3));

  const { status } = retrievePopulationDensity.responses[200].parse(densities);
  expect([status, refused]).toEqual(["SUPPORTED_AREA", { status: 404, code: "NOT_FOUND" }]);
});
