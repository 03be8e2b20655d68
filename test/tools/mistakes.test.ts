import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { tables } from "../../functions/areas.ts";
import { outputNames, tableOutput } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { tableVariable } from "../../shared/table.ts";
import { demoLogins } from "../../tools/demo-logins.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { runNcs } from "../support/ncs.ts";
import { sharedService } from "../support/service.ts";

const publishing = { [outputNames.densityK]: "10", [outputNames.densityPrecisions]: "3-7" };

let folder: string;
let outputs: string;
let devices: string;

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mistakes-"));
  const names = tables.map((table) => [
    tableOutput(table),
    sharedService.tableNames[tableVariable(table)] ?? "",
  ]);
  outputs = await file("outputs.json", { [stackNames.dev]: { ...Object.fromEntries(names), ...publishing } });
  devices = await file("devices.json", []);
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

/** The shell of an operator with access to the tables. */
function stubShell(changes: Readonly<Record<string, string | undefined>> = {}): void {
  const shell = {
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: sharedService.databaseEndpoint,
    // Neither the machine's nor the person's own.
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: join(folder, "none"),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, "none"),
    AWS_PROFILE: undefined,
    AWS_DEFAULT_REGION: undefined,
    AWS_SESSION_TOKEN: undefined,
    NCS_PASSWORD: undefined,
    NCS_TOKEN: undefined,
    DENSITY_K: undefined,
    DENSITY_PRECISIONS: undefined,
    ...changes,
  };
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
  for (const table of tables) vi.stubEnv(tableVariable(table), "");
}

type Shell = Readonly<Record<string, string | undefined>>;

/** What the operator does wrong, in which shell, and what the tool says to do. */
const ofTheShell: readonly (readonly [what: string, shell: Shell, said: string])[] = [
  [
    "has no credentials",
    { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined },
    "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  ],
  ["has no region", { AWS_REGION: undefined }, "no AWS region: set AWS_REGION"],
  [
    "has an address at which nothing answers",
    { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" },
    "(ECONNREFUSED): check AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and the network",
  ],
];

test.each(ofTheShell)(
  "ncs import devices from a shell that %s exits with 1 before it reads the file, and says what to set",
  async (_, shell, said) => {
    stubShell(shell);
    const { code, stderr } = await runNcs(["import", "devices", "no-such-file.json", "--outputs", outputs]);
    expect(code).toBe(1);
    expect(stderr).toContain(said);
  },
);

test.each([
  [
    "names no service",
    [],
    "say which service: --outputs FILE, which `cdk deploy --outputs-file FILE` writes, or --local",
  ],
  [
    "names outputs that are not there",
    ["--outputs", "gone.json"],
    "cannot be read (ENOENT): `cdk deploy --outputs-file",
  ],
  [
    "names a local service that does not run",
    ["--local", "1"],
    "no service runs on port 1 of this machine: run npm start",
  ],
  [
    "names a local service that does not run, by its address",
    ["--url", "http://localhost:1"],
    "no service runs on port 1 of this machine: run npm start",
  ],
  [
    "names the address of a stage, which says nothing of its tables",
    ["--url", "https://api.example.com"],
    "--url names no tables: give --outputs FILE, which `cdk deploy --outputs-file FILE` writes",
  ],
  [
    "names two services",
    ["--local", "--url", "http://localhost:1"],
    "--local and --url name several services: give one of them",
  ],
])(
  "ncs import exits with 1 and says how to name a service when the operator %s",
  async (_, options, said) => {
    stubShell();
    const { code, stderr } = await runNcs(["import", "devices", devices, ...options]);
    expect(code).toBe(1);
    expect(stderr).toContain(said);
  },
);

describe("the demo's logins and clients", () => {
  const [login] = demoLogins();
  const [client] = JSON.parse(readFileSync("tools/demo/clients.json", "utf8"));
  const [key] = client.jwks.keys;
  // Under other names, and the key written otherwise.
  const renamed = {
    profiles: { ID: 7_001, EmailAddress: "me@operator.example", DateCreated: "2026-01-01T00:00:00Z" },
    clients: { ...client, clientId: "own-client", jwks: { keys: [{ ...key, kid: "own", x: `${key.x}=` }] } },
  };
  const records = {
    profiles: { ...renamed.profiles, Username: "me", IsProfilePublic: false, password: login?.password },
    clients: renamed.clients,
  };
  const importing = async (kind: keyof typeof records, stack: string, ...options: readonly string[]) => {
    stubShell();
    const { [stackNames.dev]: names } = JSON.parse(readFileSync(outputs, "utf8"));
    const of = await file(`${crypto.randomUUID()}.json`, { [stack]: names });
    const path = await file(`${kind}.json`, [records[kind]]);
    return await runNcs(["import", kind, path, "--outputs", of, "--dry-run", ...options]);
  };

  test.each([
    ["profiles", "password"],
    ["clients", "jwks"],
  ] as const)(
    "ncs import %s refuses them under any name for prod, and for dev without --demo",
    async (kind, field) => {
      const prod = await importing(kind, stackNames.prod, "--demo");
      expect(prod.stderr).toContain(
        `record 1, ${field}: is the demo's, and everybody knows it: NetworkCapabilities has`,
      );
      const dev = await importing(kind, stackNames.dev);
      expect(dev.stderr).toContain(`record 1, ${field}: is the demo's, and everybody knows it`);
      expect(dev.stderr).toContain("takes it with --demo");
      expect(`${prod.stderr}${dev.stderr}`).not.toContain(login?.password);
      expect([prod.code, dev.code]).toEqual([1, 1]);
      expect(await importing(kind, stackNames.dev, "--demo")).toMatchObject({ code: 0 });
    },
  );
});

test("ncs import writes nothing into a stage whose data have another format", async () => {
  const { [stackNames.dev]: names } = JSON.parse(readFileSync(outputs, "utf8"));
  const newer = await file("newer.json", { [stackNames.dev]: { ...names, DataFormat: "2" } });
  const { code, stderr } = await runNcs(["import", "devices", "devices.json", "--outputs", newer]);
  expect(code).toBe(1);
  expect(stderr).toContain("has data of format 2, and this ncs is for 1: use the ncs of its release");
});

const login = {
  ID: 1,
  EmailAddress: "mistakes@example.com",
  Username: "x",
  DateCreated: "2024-01-15T09:00:00Z",
  IsProfilePublic: false,
};

test.each([
  ["a file that is not there", "devices", undefined, "cannot be read: ENOENT, no such file or folder"],
  [
    "an unknown permission",
    "profiles",
    [{ ...login, Permissions: "qos-profiles:read qos:write" }],
    "record 1, Permissions: unknown permission: must be some of qos-profiles:read",
  ],
  [
    "a latitude that is a longitude",
    "profiles",
    [{ ...login, Latitude: 104.8, Longitude: 45.7 }],
    "record 1, Latitude: must be from -90 to 90; latitude and longitude swapped?",
  ],
])("ncs import exits with 1 for %s and says what is right", async (_, kind, content, said) => {
  stubShell();
  const path = content === undefined ? join(folder, "gone.json") : await file(`${kind}.json`, content);
  const { code, stderr } = await runNcs(["import", kind, path, "--outputs", outputs]);
  expect(code).toBe(1);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain("qos:write");
});

test("ncs import given a folder or CSV says what kind of file it expects", async () => {
  stubShell();
  const csv = await file("devices.csv", "subscription,phoneNumber\n");
  const rows = await file("rows.csv", "geohash;startTime;people\n");
  const json = await file("rows.ndjson.csv", '{"geohash":"u05kq4w"}\n');
  const saidOf = async (...args: readonly string[]) =>
    (await runNcs(["import", ...args, "--outputs", outputs])).stderr;

  expect(await saidOf("devices", folder)).toContain("EISDIR, a folder where a file is expected");
  expect(await saidOf("devices", csv)).toContain(
    "is CSV: expected .json with an array of records, or .ndjson",
  );
  expect(await saidOf("density", rows, "--coverage", "rows")).toContain("commas must separate the columns");
  expect(await saidOf("density", json, "--coverage", "rows")).toContain(
    "name a file of JSON objects .ndjson",
  );
  expect(await saidOf("density", rows, "--coverage", csv)).toContain("is CSV, and JSON is expected");
});

test.each([
  ["ExpiredTokenException", "AWS does not accept the credentials: renew those of AWS_PROFILE"],
  ["AccessDeniedException", "the credentials lack a permission: secretsmanager:RotateSecret"],
  ["ResourceNotFoundException", "there is no such secret: set AWS_REGION to the region of the stack"],
])("ncs rotate-keys says in one line what to set when AWS answers with %s", async (name, said) => {
  const aws = await listen(
    createServer((_, response) => {
      const message =
        "Secrets Manager: User: arn:aws:iam::123456789012:user/x is not authorized to perform: " +
        "secretsmanager:RotateSecret on resource: a secret";
      response.writeHead(400, { "content-type": "application/x-amz-json-1.1" });
      response.end(JSON.stringify({ __type: name, message }));
    }),
    0,
  );
  try {
    stubShell({ AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url });
    const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:x";
    const path = await file("key.json", { [stackNames.dev]: { [outputNames.signingKey]: arn } });

    const { code, stderr } = await runNcs(["rotate-keys", "--outputs", path]);

    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^${said}.* \\(${name}\\)\n$`));
  } finally {
    await aws.close();
  }
});

test("ncs import names the place in an area that is not JSON, and the number of a record that is not", async () => {
  stubShell();
  const area = await file("broken.geojson", '{"type": "Polygon",\n"coordinates": [}');
  const rows = await file("rows.csv", "geohash,startTime,people\nu05kq4w,2031-11-20T08:00:00Z,50\n");
  const density = await runNcs(["import", "density", rows, "--coverage", area, "--outputs", outputs]);
  expect(density.stderr).toContain("broken.geojson: is not JSON: see line 2, column 17");
  for (const text of ['[{}, {"name": }]', '[{}, {"name": "x"'] as const) {
    const records = await file("broken.json", text);
    const { stderr } = await runNcs(["import", "qos-profiles", records, "--outputs", outputs]);
    expect(stderr).toContain("broken.json: record 2: is not JSON");
  }
});

test.each([
  [
    "the shell has another K than the stack announces",
    publishing,
    { DENSITY_K: "20" },
    "DENSITY_K is 20 in this shell, but 10 in NetworkCapabilities-dev, as callers are told: unset it",
  ],
  [
    "the shell has other precisions than the stack announces",
    publishing,
    { DENSITY_PRECISIONS: "3-8" },
    "DENSITY_PRECISIONS is 3-8 in this shell, but 3-7 in NetworkCapabilities-dev, as callers are told: unset it",
  ],
  [
    "the stack was deployed before it named its K",
    {},
    { DENSITY_K: "10" },
    "NetworkCapabilities-dev has no DensityK: deploy this version of the service, and take the outputs of that",
  ],
])("ncs import density and population exit with 1 when %s", async (_, announced, shell, said) => {
  stubShell(shell);
  const rows = await file("rows.csv", "geohash,startTime,people\nu05kq4w,2031-11-20T08:00:00Z,50\n");
  const path = await file("announced.json", { [stackNames.dev]: announced });
  const counted = await runNcs(["import", "density", rows, "--coverage", "rows", "--outputs", path]);
  expect(counted).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
  const box = ["--bbox", "8,46,8.1,46.1", "--source", "A", "--licence", "B"];
  const residents = await file("residents.csv", "lat,lon,people\n46.05,8.05,100\n");
  const grid = ["import", "population", residents, "--kind", "points", ...box, "--outputs", path];
  expect(await runNcs(grid)).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
});

test("ncs import density suggests that latitude and longitude of the area are swapped when the rows are inside then", async () => {
  stubShell();
  const ring = [
    [45.7, 4.8],
    [45.7, 4.9],
    [45.8, 4.9],
    [45.8, 4.8],
    [45.7, 4.8],
  ];
  const area = await file("area.geojson", { type: "Polygon", coordinates: [ring] });
  const rows = await file("counts.csv", "geohash,startTime,people\nu05kq4w,2031-11-20T08:00:00Z,50\n");
  const { stderr } = await runNcs(["import", "density", rows, "--coverage", area, "--outputs", outputs]);
  expect(stderr).toContain("line 2, geohash: is outside the covered area");
  expect(stderr).toContain(
    "area.geojson: the rows are inside with latitude and longitude the other way round: swapped?",
  );
});

test.each([
  [["call", "getQosProfile"], "getQosProfile needs a token: log in with --as, or give --token or NCS_TOKEN"],
  [
    ["call", "getQosProfiles", "--token", "x"],
    "there is no operation getQosProfiles. Did you mean getQosProfile? There are:\n\nauthenticateProfile ",
  ],
  // A value may be a secret.
  [
    ["call", "getPublicKeys", "--header", "authorization Bearer a-secret"],
    "--header must be a name, a colon and a value",
  ],
  [["call", "getQosProfile", "--token", "x"], "getQosProfile needs name: '{\"name\": …}'"],
  [
    ["call", "getQosProfile", "{name:1}", "--token", "x"],
    "must be a JSON object, in single quotes for the shell",
  ],
  [
    ["call", "getPublicKeys", "--url", "http://127.0.0.1:2"],
    "does not answer (ECONNREFUSED): run npm start, or give the address of a stage",
  ],
  [["token", "--as", "nobody@example.com"], "no password of nobody@example.com: set NCS_PASSWORD"],
  [
    ["call", "getQosProfile", "--token", "a-secret\nx", '{"name":"QOS_E"}'],
    "the token has characters that HTTP does not allow",
  ],
  [
    ["call", "getPublicKeys", "--url", "localhost:3000"],
    "It must be the address of a service, such as https://",
  ],
  [["event", "test"], "test cannot be read: EISDIR, a folder where a file is expected"],
  [["preflight", "-c", "alarmTopicARN=none"], "alarmTopicARN is not a setting; did you mean alarmTopicArn?"],
  [["webhooks", "listen", "--secret", "a-secret!"], "the secret must be whsec_ and Base64"],
  [["verify", "localhost"], "must be the address of a service, such as https://"],
])("ncs %j exits with 1 and says what is missing", async (args, said) => {
  stubShell();
  const { code, stderr } = await runNcs(args);
  expect(code).toBe(1);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain("a-secret");
});
