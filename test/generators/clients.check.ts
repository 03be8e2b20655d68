import { writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { areas } from "../../functions/areas.ts";
import packageJson from "../../package.json" with { type: "json" };
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { canonicalDocument } from "../../tools/docs/openapi.ts";
import { tsc } from "../support/compiler.ts";
import { sharedService } from "../support/service.ts";
import { generateWithOrval, imported, runInstalled } from "./generated.ts";

// openapi-typescript makes `client/`, and swagger-typescript-api the client of `test/contract/client.test.ts`.

/** A program that is written with a generated client; indented, so that no reader takes its imports for this file's. */
interface Generated {
  /** Makes the client in a folder from the document at an address. */
  readonly generate: (document: string, folder: string) => Promise<unknown>;
  /** Typed as a person would. */
  readonly program: string;
}

const typed = z.object({ name: z.string(), refused: z.string(), status: z.number() });
const programSchema = z.object({
  useService: z.custom<() => Promise<unknown>>((value) => typeof value === "function"),
});

const credentials = '{ emailaddress: "app@example.com", password: "correct horse battery staple" }';

const clients: Readonly<Record<string, Generated>> = {
  "hey-api": {
    generate: (document, folder) =>
      runInstalled(
        "openapi-ts",
        ["-i", document, "-o", join(folder, "client"), "-p", "@hey-api/client-fetch", "--no-log-file"],
        folder,
      ),
    program: `
      import * as sdk from "./client/index";

      export async function useService() {
        const login = await sdk.authenticateProfile({ body: ${credentials}, throwOnError: true });
        const auth = login.data.Data.access_token;
        const { data: profile } = await sdk.getQosProfile({ auth, path: { name: "QOS_E" }, throwOnError: true });
        const name: string = profile.name;
        const { error, response } = await sdk.getQosProfile({ auth, path: { name: "NOBODY" } });
        const refused: string | undefined = error?.code;
        return { name, refused, status: response?.status };
      }

      /** Never called: what the types say. */
      export async function mistakes() {
        // @ts-expect-error a name that is a number
        await sdk.getQosProfile({ path: { name: 1 } });
        // @ts-expect-error a request without its day
        await sdk.checkNumberRecycling({ body: { phoneNumber: "+34600000012" } });
      }
    `,
  },
  orval: {
    generate: (document, folder) => generateWithOrval(document, join(folder, "client.ts"), folder),
    program: `
      import * as sdk from "./client";

      export async function useService() {
        const login = await sdk.authenticateProfile(${credentials});
        if (login.status !== 200) throw new Error(login.data.code);
        const headers = { authorization: "Bearer " + login.data.Data.access_token };
        const profile = await sdk.getQosProfile("QOS_E", { headers });
        if (profile.status !== 200) throw new Error(profile.data.code);
        const name: string = profile.data.name;
        const other = await sdk.getQosProfile("NOBODY", { headers });
        return { name, refused: other.status === 200 ? undefined : other.data.code, status: other.status };
      }

      /** Never called: what the types say. */
      export async function mistakes() {
        // @ts-expect-error a name that is a number
        await sdk.getQosProfile(1);
        // @ts-expect-error a request without its day
        await sdk.checkNumberRecycling({ phoneNumber: "+34600000012" });
      }
    `,
  },
};

describe.each(Object.entries(clients))("the client that %s generates", (name, generated) => {
  let folder: string;
  let program: z.output<typeof programSchema>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "network-capabilities-generated-"));
    await generated.generate(`${sharedService.url}/openapi.json`, folder);
    await writeFile(join(folder, "program.ts"), generated.program);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "es2022",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2023", "dom", "dom.iterable"],
      types: [],
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["program.ts"] }),
    );
    const outfile = join(folder, "program.mjs");
    await build({ entryPoints: [join(folder, "program.ts")], outfile, bundle: true, format: "esm" });
    program = programSchema.parse(await imported(outfile));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test(`the client of ${name} compiles under strict, and its types refuse mistakes`, async () => {
    expect(await tsc(["--pretty", "false", "-p", folder])).toBe("");
  });

  test(`the client of ${name} logs in, reads a profile and gets an error at the document's server`, async () => {
    expect(typed.parse(await program.useService())).toEqual({
      name: "QOS_E",
      refused: "NOT_FOUND",
      status: 404,
    });
  });
});

test("Spectral finds nothing in the OpenAPI documents", async () => {
  const root = process.cwd();
  const ruleset = join(root, "test/generators/spectral.yaml");
  const { path: folder } = temporaryFolder("spectral-");
  const withoutAliases = join(folder, "openapi-canonical.json");
  writeFileSync(withoutAliases, JSON.stringify(canonicalDocument(areas, packageJson.version)));
  const documents = [join(root, "docs/openapi.json"), withoutAliases];
  const report = await runInstalled(
    "spectral",
    ["lint", "--ruleset", ruleset, "--fail-severity", "hint", ...documents],
    root,
  );
  expect(report).toContain("No results with a severity of 'hint' or higher found!");
});
