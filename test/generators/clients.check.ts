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
import type { SampleRequest } from "../../tools/verify/sample-requests.ts";
import { tokenWith } from "../support/client.ts";
import { tsc } from "../support/compiler.ts";
import { goodRequests, withSink } from "../support/sample-requests.ts";
import { sharedService } from "../support/service.ts";
import { openSink, type TestSink } from "../support/sink.ts";
import { generateWithOrval, imported, runInstalled } from "./generated.ts";

// openapi-typescript makes `client/`, and swagger-typescript-api the client of `test/contract/client.test.ts`.

/** A request of `events/` as values: what a generated function takes. */
interface Call {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A program that is written with a generated client; indented, so that no reader takes its imports for this file's. */
interface Generated {
  /** Makes the client in a folder from the document at an address. */
  readonly generate: (document: string, folder: string) => Promise<unknown>;
  /** Typed as a person would; and `call`, which gives any operation what it takes. */
  readonly program: string;
}

const answered = z.object({ status: z.number(), data: z.unknown() });
type Answered = z.output<typeof answered>;

const typed = z.object({ name: z.string(), refused: z.string(), status: z.number() });
const programSchema = z.object({
  useService: z.custom<() => Promise<unknown>>((value) => typeof value === "function"),
  call: z.custom<(call: Call) => Promise<unknown>>((value) => typeof value === "function"),
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
      import { client } from "./client/client.gen";

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

      interface Call { operationId: string; parameters: object; query: object; headers: object; body: unknown }

      export async function call({ operationId, parameters, query, headers, body }: Call) {
        type Result = { data?: unknown; error?: unknown; response: Response };
        const functions = sdk as unknown as Record<string, (options: object) => Promise<Result>>;
        const named = functions[operationId];
        if (named === undefined) throw new Error("no function " + operationId);
        const { data, error, response } = await named({ client, path: parameters, query, headers, body });
        return { status: response.status, data: data ?? error };
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

      interface Call { operationId: string; parameters: object; query: object; headers: object; body: unknown }

      export async function call({ operationId, parameters, query, headers, body }: Call) {
        type Result = { status: number; data?: unknown; stream?: Response };
        const functions = sdk as unknown as Record<string, (...values: unknown[]) => Promise<Result>>;
        const named = functions[operationId];
        if (named === undefined) throw new Error("no function " + operationId);
        // Its parameters stand in this order.
        const parts = [...Object.values(parameters), ...(body === undefined ? [] : [body])];
        const sent = named.length > parts.length + 1 ? [...parts, query] : parts;
        const { status, data, stream } = await named(...sent, { headers });
        // An operation that may answer with lines of JSON gives the response as it is.
        return { status, data: stream === undefined ? data : await stream.json() };
      }
    `,
  },
};

const good = await goodRequests();

function callOf(
  { endpoint, parameters, path, headers: requestHeaders, body }: SampleRequest,
  token: string,
): Call {
  // These clients ask for no media type, and so get JSON.
  const { accept: _, ...headers } = requestHeaders;
  const query = Object.fromEntries(new URL(path, "http://service.example").searchParams);
  const authorized = endpoint.scope === null ? headers : { ...headers, authorization: `Bearer ${token}` };
  return {
    operationId: endpoint.operationId,
    // Events have them as they stand in a path.
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, decodeURIComponent(value)]),
    ),
    query,
    headers: authorized,
    body: body === undefined ? undefined : JSON.parse(body),
  };
}

describe.each(Object.entries(clients))("the client that %s generates", (name, generated) => {
  let folder: string;
  let sink: TestSink;
  let program: z.output<typeof programSchema>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "network-capabilities-generated-"));
    sink = await openSink();
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
    await sink.close();
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

  test.each(good.map((request) => [request.file, request] as const))(
    `the client of ${name} gets a response that its operation declares for events/%s`,
    async (_file, request) => {
      const token = await tokenWith(request.claims);
      const call = callOf(
        withSink(request, () => sink.urlOf()),
        token,
      );
      const answer: Answered = answered.parse(await program.call(call));
      expect(answer.status).toBe(request.status);
      expect(request.endpoint.responses[answer.status]?.safeParse(answer.data).error).toBeUndefined();
    },
  );
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
