import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { outputNames } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { demoLogins } from "../../tools/demo-logins.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();

const login = {
  ID: 1,
  EmailAddress: "mistakes@example.com",
  Username: "x",
  DateCreated: "2024-01-15T09:00:00Z",
  IsProfilePublic: false,
};
const rows = "geohash,startTime,people\nu05kq4w,2031-11-20T08:00:00Z,50\n";
const swapped = [45.7, 45.7, 45.8, 45.8, 45.7].map((north, at) => [north, [4.8, 4.9, 4.9, 4.8, 4.8][at]]);
const files: Readonly<Record<string, unknown>> = {
  "outputs.json": stackOutputs(),
  "newer.json": stackOutputs({ [outputNames.dataFormat]: "2" }),
  "no-k.json": { [stackNames.dev]: {} },
  "no-stage.json": { Another: {} },
  "two.json": { [stackNames.dev]: {}, [stackNames.prod]: {} },
  "devices.json": [],
  "devices.csv": "subscription,phoneNumber\n",
  "permission.json": [{ ...login, Permissions: "qos-profiles:read qos:write" }],
  "latitude.json": [{ ...login, Latitude: 104.8, Longitude: 45.7 }],
  "middle.json": '[{}, {"name": }]',
  "end.json": '[{}, {"name": "x"',
  "rows.csv": rows,
  "semicolons.csv": "geohash;startTime;people\n",
  "rows.ndjson.csv": '{"geohash":"u05kq4w"}\n',
  "broken.geojson": '{"type": "Polygon",\n"coordinates": [}',
  "area.geojson": { type: "Polygon", coordinates: [swapped] },
  "residents.csv": "lat,lon,people\n46.05,8.05,100\n",
};
beforeAll(async () => {
  for (const [name, content] of Object.entries(files)) await folder.write(name, content);
});
afterEach(() => vi.unstubAllEnvs());

/** Runs `ncs` with the paths of files instead of their names. */
async function run(...words: readonly string[]) {
  return await runNcs(
    words.map((word) => (Object.hasOwn(files, word) || word === "." ? join(folder.path, word) : word)),
  );
}

const onStage = ["--outputs", "outputs.json"];
const into = (kind: string, file: string) => ["import", kind, file, ...onStage];
const devices = ["import", "devices", "devices.json"];
const rowsOf = (name: string, coverage = "rows") =>
  into("density", name).concat("--coverage", coverage, "--source", "A");
const residents = [
  ...[...into("population", "residents.csv"), "--kind", "points", "--bbox", "8,46,8.1,46.1"],
  ...["--source", "A", "--licence", "B"],
];
const url = (address: string) => ["--url", address];
const token = ["--token", "x"];
const densities = ["density", "--out", "lyon.csv"];

type Shell = Readonly<Record<string, string | undefined>>;

test.each<[args: readonly string[], said: string, shell?: Shell]>([
  // A shell with which no file need be read.
  [into("devices", "-"), "no AWS credentials: set AWS_PROFILE, or ", { AWS_ACCESS_KEY_ID: undefined }],
  [into("devices", "-"), "no AWS region: set AWS_REGION", { AWS_REGION: undefined }],
  [
    into("devices", "-"),
    "(ECONNREFUSED): check AWS_REGION,",
    { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" },
  ],
  // Which service.
  [devices, "say which service: --outputs FILE, which `cdk deploy --outputs-file FILE` writes, or --local"],
  [[...devices, "--outputs", "gone.json"], "cannot be read (ENOENT): `cdk deploy --outputs-file"],
  [[...devices, "--local", "1"], "no service runs on port 1 of this machine: run npm start"],
  [[...devices, ...url("http://localhost:1")], "no service runs on port 1 of this machine: run npm start"],
  [[...devices, ...url("https://api.example.com")], "--url names no tables: give --outputs FILE"],
  [[...devices, "--local", ...url("http://localhost:1")], "--local and --url name several services"],
  [[...devices, "--outputs", "newer.json"], "has data of format 2, and this ncs is for 1: use the ncs of "],
  [["rotate-keys", "--outputs", "no-stage.json"], "has the outputs of no stage"],
  [["rotate-keys", "--outputs", "two.json"], "has the outputs of two stages"],
  [["rotate-keys", "--outputs", "no-k.json"], "SIGNING_KEY_SECRET_ARN"],
  // What a file holds.
  [into("devices", "gone.json"), "cannot be read: ENOENT, no such file or folder"],
  [into("devices", "."), "EISDIR, a folder where a file is expected"],
  [into("devices", "devices.csv"), "is CSV: expected .json with an array of records, or .ndjson"],
  [
    into("profiles", "permission.json"),
    "record 1, Permissions: unknown permission: must be some of qos-profiles",
  ],
  [
    into("profiles", "latitude.json"),
    "record 1, Latitude: must be from -90 to 90; latitude and longitude swapped?",
  ],
  [into("qos-profiles", "middle.json"), "middle.json: record 2: is not JSON"],
  [into("qos-profiles", "end.json"), "end.json: record 2: is not JSON"],
  [rowsOf("semicolons.csv"), "commas must separate the columns"],
  [rowsOf("rows.ndjson.csv"), "name a file of JSON objects .ndjson"],
  [rowsOf("rows.csv", "devices.csv"), "is CSV, and JSON is expected"],
  [rowsOf("rows.csv", "broken.geojson"), "broken.geojson: is not JSON: see line 2, column 17"],
  [
    rowsOf("rows.csv", "area.geojson"),
    "area.geojson: the rows are inside with latitude and longitude the other way ",
  ],
  // How the stack publishes.
  [
    rowsOf("rows.csv"),
    "DENSITY_K is 20 in this shell, but 10 in NetworkCapabilities-dev",
    { DENSITY_K: "20" },
  ],
  [residents, "DENSITY_PRECISIONS is 3-8 in this shell, but 3-7 in ", { DENSITY_PRECISIONS: "3-8" }],
  [
    [...rowsOf("rows.csv").slice(0, 4), "no-k.json", "--coverage", "rows"],
    "NetworkCapabilities-dev has no DensityK",
  ],
  // Other commands; a value may be a secret.
  [["call", "getQosProfile"], "getQosProfile needs a token: log in with --as, or give --token or NCS_TOKEN"],
  [["call", "getQosProfiles", ...token], "there is no operation getQosProfiles. Did you mean getQosProfile?"],
  [
    ["call", "getPublicKeys", "--header", "a: b", "c a-secret"],
    "--header must be a name, a colon and a value",
  ],
  [["call", "getQosProfile", ...token], "getQosProfile needs name: '{\"name\": …}'"],
  [["call", "getQosProfile", "{name:1}", ...token], "must be a JSON object, in single quotes for the shell"],
  [["call", "getPublicKeys", ...url("http://127.0.0.1:2")], "does not answer (ECONNREFUSED): run npm start"],
  [
    ["call", "getQosProfile", "--token", "a-secret\nx", '{"name":"Q"}'],
    "the token has characters that HTTP does ",
  ],
  [
    ["call", "getPublicKeys", ...url("localhost:3000")],
    "It must be the address of a service, such as https://",
  ],
  [["token", "--as", "nobody@example.com"], "no password of nobody@example.com: set NCS_PASSWORD"],
  [["event", "test"], "test cannot be read: EISDIR, a folder where a file is expected"],
  [["preflight", "-c", "alarmTopicARN=none"], "alarmTopicARN is not a setting; did you mean alarmTopicArn?"],
  [["preflight", "-c", "throttlingRate"], "throttlingRate must be name=value"],
  [["preflight", "-c", "stage=staging"], "stage must be dev or prod"],
  [["preflight", "--densities", "10"], "--densities and --others must be given together"],
  [
    ["delete", "devices", ...onStage],
    "say what to delete: subscriptions, or phone numbers, or --file FILE\n",
  ],
  [["webhooks", "listen"], "set NCS_WEBHOOK_SECRET", { NCS_WEBHOOK_SECRET: undefined }],
  [["webhooks", "listen"], "must be whsec_ and Base64", { NCS_WEBHOOK_SECRET: "a-secret!" }],
  [["verify", "localhost"], "must be the address of a service, such as https://"],
  [["verify", "http://127.0.0.1:2"], "does not answer (ECONNREFUSED)"],
  [["verify", "http://127.0.0.1:2", "--only", "nothing"], 'no scenario has "nothing" in its name'],
  [["density", "--out", "lyon.shp"], "--out must be a file that ends in .csv, .geojson, .parquet"],
  [[...densities, "--end", "2026-11-27T12:00Z"], "It has no seconds (12:00:00)."],
  [[...densities, "--start", "2026-11-27T12:00:00"], "It has no time zone (Z or +01:00)."],
  [[...densities, "--end", "tomorrow"], "It must be an RFC 3339 date-time with a zone, such as 2026-"],
])("ncs %j exits with 1 and says: %s", async (args, said, shell = {}) => {
  useShell(shell);
  const { code, stderr } = await run(...args);
  expect(code).toBe(1);
  expect(stderr).toContain(said);
  expect(stderr).not.toMatch(/a-secret|qos:write/);
});

test.each([
  ["profiles", "password"],
  ["clients", "jwks"],
] as const)(
  "ncs import %s refuses the demo's under any name for prod, and for dev without --demo",
  async (kind, field) => {
    useShell();
    const password = demoLogins()[0]?.password;
    const [client] = JSON.parse(readFileSync("tools/demo/clients.json", "utf8"));
    const [key] = client.jwks.keys;
    const records = {
      profiles: { ...login, password },
      // The key is written otherwise.
      clients: {
        ...client,
        clientId: "own-client",
        jwks: { keys: [{ ...key, kid: "own", x: `${key.x}=` }] },
      },
    };
    const path = await folder.write("renamed.json", [records[kind]]);
    const { [stackNames.dev]: outputs } = stackOutputs();
    const prod = await folder.write("prod.json", { [stackNames.prod]: outputs });
    const importing = (...options: string[]) => run("import", kind, path, "--dry-run", ...options);

    const refused = `record 1, ${field}: is the demo's, and everybody knows it: `;
    const intoProd = await importing("--outputs", prod, "--demo");
    expect(intoProd).toMatchObject({ code: 1, stderr: expect.stringContaining(refused) });
    expect(intoProd.stderr).not.toContain(password);
    const intoDev = await importing(...onStage);
    expect(intoDev).toMatchObject({ code: 1, stderr: expect.stringContaining("takes it with --demo") });
    expect(await importing(...onStage, "--demo")).toMatchObject({ code: 0 });
  },
);

test.each([
  ["ExpiredTokenException", "AWS does not accept the credentials: renew those of AWS_PROFILE"],
  ["AccessDeniedException", "the credentials lack a permission: secretsmanager:RotateSecret"],
  ["ResourceNotFoundException", "there is no such secret: set AWS_REGION to the region of the stack"],
])("ncs rotate-keys says in one line what to set when AWS answers with %s", async (name, said) => {
  const message =
    "Secrets Manager: User: arn:aws:iam::123456789012:user/x is not authorized to perform: " +
    "secretsmanager:RotateSecret on resource: a secret";
  const aws = await listen(
    createServer((_, response) => {
      response.writeHead(400, { "content-type": "application/x-amz-json-1.1" });
      response.end(JSON.stringify({ __type: name, message }));
    }),
    0,
  );
  onTestFinished(() => aws.close());
  useShell({ AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url });
  const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:x";
  const outputs = await folder.write("key.json", { [stackNames.dev]: { [outputNames.signingKey]: arn } });

  const { code, stderr } = await run("rotate-keys", "--outputs", outputs);

  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^${said}.* \\(${name}\\)\n$`));
});
