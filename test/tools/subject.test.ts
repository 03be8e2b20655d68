import { ListTablesCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { type TableName, tables } from "../../functions/areas.ts";
import { shortened } from "../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../functions/population-density/delivery/permit-store.ts";
import { densityPermits } from "../../functions/population-density/delivery/tables.ts";
import { tableOutput } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { pseudonymOf } from "../../shared/access-records/pseudonym.ts";
import { logId } from "../../shared/aws/log.ts";
import { withPatientCalls } from "../../shared/aws/patient-calls.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { hashed } from "../../shared/hash.ts";
import { tableVariable } from "../../shared/table.ts";
import { openQueueServer } from "../../tools/local/servers/queue-server.ts";
import { erase } from "../../tools/subject/erase.ts";
import {
  askForToken,
  claimsFor,
  clientCredentials,
  signed,
  storeClient,
  subscribersToken,
} from "../oauth2/test-client.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import { plainDevice } from "../support/device.ts";
import { encodingsOf } from "../support/encodings.ts";
import { type FaultyEndpoint, openFaultyEndpoint } from "../support/faulty-endpoint.ts";
import { requestIn } from "../support/jobs.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { ellipticKey } from "../support/signed.ts";
import { openSink, type TestSink } from "../support/sink.ts";

// A person uses the service and is asked about; then all that is stored is exported, erased, and searched for.

const kim: DeviceRecord = {
  ...plainDevice,
  subscription: "line-of-kim-27182818",
  phoneNumber: "+447700918281",
  ipv4Addresses: [{ publicAddress: "203.0.113.177", privateAddress: "10.77.123.234", publicPort: 51_234 }],
  ipv6Prefix: "2001:db8:abcd:ef01::/64",
  imei: "356938035643809",
  softwareVersion: "42",
};
const login = {
  ID: 271_828_182,
  EmailAddress: "Kim.Example@Operator.example",
  password: "a horse that is correct",
  Username: "kim-27182818",
  DateCreated: "2024-01-15T09:00:00Z",
  IsProfilePublic: false,
  Location: "Kimtown",
  Permissions:
    "qos-profiles:read population-density-data:read number-recycling:check device-identifier:retrieve-identifier",
  subscription: kim.subscription,
};
/** Held the number before, and has another one now. */
const robin: DeviceRecord = { ...plainDevice, subscription: "line-of-robin", phoneNumber: "+447700900001" };
const assignments = [
  { phoneNumber: kim.phoneNumber, subscriber: robin.subscription, from: "2010-01-01", to: "2015-12-31" },
  { phoneNumber: "+447700918282", subscriber: kim.subscription, from: "2012-01-01", to: "2016-05-31" },
  { phoneNumber: kim.phoneNumber, subscriber: kim.subscription, from: "2016-06-01" },
  { phoneNumber: robin.phoneNumber, subscriber: robin.subscription, from: "2016-01-01" },
];
/** Tables of catalogues, counts of people, applications and keys. */
const aboutNobody: readonly TableName[] = [
  "qos-profiles",
  "densities",
  "density-imports",
  "clients",
  "used-assertions",
  "signing-keys",
  "pseudonym-keys",
];
const sinkToken = "token-of-kims-sink";

const folder = useOwnFolder();

let service: OwnService;
let queue: FaultyEndpoint;
let sink: TestSink;
let outputs: string;
const opened: { close(): Promise<void> }[] = [];

const keep = <T extends { close(): Promise<void> }>(started: T): T => {
  opened.push(started);
  return started;
};

/** The permit of an upload of the person whose worker was killed. */
const lostPermit = shortened({
  host: hashed("host"),
  caller: hashed(String(login.ID)),
  mode: "answer",
  holder: "12345678",
  since: Date.now(),
  until: Date.now() + 3_600_000,
});

/** Lets `ncs` find the service as a deployed stack. */
function useService(): void {
  vi.stubEnv(tableVariable(densityPermits), service.tableName(densityPermits.name));
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", service.databaseEndpoint);
  const shell = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
}

async function run(...args: readonly string[]) {
  const ended = await runNcs([...args, "--outputs", outputs]);
  return ended;
}

beforeAll(async () => {
  const queues = keep(await openQueueServer(undefined));
  queue = keep(await openFaultyEndpoint(queues.endpoint));
  sink = keep(await openSink());
  service = keep(
    await startOwnService(
      {
        AWS_ENDPOINT_URL_SQS: queue.url,
        SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
        // Kim's delivery, which fails, is not over before all is erased.
        SINK_RETRY_SECONDS: Array(20).fill(3).join(),
        LOG_LEVEL: "DEBUG",
      },
      { isIssuer: true },
    ),
  );
  const names = tables.map((table) => [tableOutput(table), service.tableName(table.name)]);
  outputs = await folder.write("outputs.json", { [stackNames.dev]: Object.fromEntries(names) });
  useService();
  const records = { profiles: [login], devices: [kim, robin], "number-assignments": assignments };
  for (const [kind, content] of Object.entries(records)) {
    const imported = await run("import", kind, await folder.write(`${kind}.json`, content));
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
  }
  await useAll();
  await permitStore.add(lostPermit, AbortSignal.timeout(10_000));
});
beforeEach(useService);
afterAll(async () => {
  for (const started of opened.reverse()) await started.close();
});

const paths = {
  login: "/v3/profile/authenticate",
  identifier: "/deviceidentifier/retrieve-identifier",
  number: "/numberrecycling/check",
  profiles: "/qualityondemand/retrieve-qos-profiles",
  densities: "/populationdensitydata/retrieve",
  summary: "/populationdensitydata/summary",
  secrets: "/populationdensitydata/webhook-secrets",
};
const specifiedDate = "2020-01-01";

async function post(path: string, body: unknown, token?: string) {
  return await service.call(path, {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}

const loggedIn = z.object({ Data: z.object({ access_token: z.string() }) });

/** Tokens that were issued before the person is erased: of the person's login, and of a client, also for the person. */
let own: string;
let shop: string;
let shopForKim: string;

const densitiesTo = (sinkUrl: string) => ({
  ...requestIn(boxIn(freshTile(), [1, 1], [1.2, 2])),
  sink: `${sinkUrl}&of=kim-27182818`,
  sinkCredential: { credentialType: "ACCESSTOKEN", accessToken: sinkToken, accessTokenType: "bearer" },
});

/** Calls everything that leaves something of a person: as the person, and as a client that asks about them. */
async function useAll(): Promise<void> {
  const [emailaddress, password] = [login.EmailAddress, login.password];
  expect(await post(paths.login, { emailaddress, password: "wrong" })).toMatchObject({ status: 401 });
  const { body } = await post(paths.login, { emailaddress, password });
  own = loggedIn.parse(body).Data.access_token;
  const scopes = ["number-recycling:check", "device-identifier:retrieve-identifier", "qos-profiles:read"];
  const key = ellipticKey("shop-1");
  await storeClient(service, {
    clientId: "shop",
    keys: [key],
    scopes,
    grants: ["client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
    purposes: ["dpv:FraudPreventionAndDetection"],
  });
  const scope = `${scopes.join(" ")} dpv:FraudPreventionAndDetection`;
  const forItself = clientCredentials(await signed(key, claimsFor(service, "shop")), scope);
  const forKim = claimsFor(service, "shop", { sub: `tel:${kim.phoneNumber}`, scope });
  const tokenFor = async (form: Record<string, string>) =>
    z.string().parse((await askForToken(service, form)).body.access_token);
  shop = await tokenFor(forItself);
  shopForKim = await tokenFor(subscribersToken(await signed(key, forKim)));
  const { phoneNumber, ipv4Addresses } = kim;
  const [ipv4Address] = ipv4Addresses;
  const densities = densitiesTo(sink.urlOf({ status: 500 }));
  for (const [path, sent, token, status = 200] of [
    [paths.number, { specifiedDate, phoneNumber }, shop],
    [paths.identifier, { device: { ipv4Address } }, shop],
    [paths.profiles, { device: { phoneNumber } }, shop],
    [paths.identifier, {}, shopForKim],
    [paths.number, { specifiedDate }, own],
    [paths.secrets, {}, own, 201],
    [paths.densities, densities, own, 202],
  ] as const) {
    expect(await post(path, sent, token), path).toMatchObject({ status });
  }
  await vi.waitFor(() => expect(sink.received()).not.toEqual([]), { timeout: 100_000 });
}

const identifiers = [
  ...["+447700918281", "447700918281", "+447700918282", kim.subscription],
  ...[kim.imei, "3569380356438042", "203.0.113.177", "10.77.123.234", "2001:db8:abcd:ef01"],
  ...[login.EmailAddress, login.EmailAddress.toLowerCase(), login.Username, String(login.ID), "Kimtown"],
  ...[sinkToken, "kim-27182818"],
];

/** Everything that is in each table, by the name of the table. */
async function allItems(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { TableNames = [] } = await service.database.send(new ListTablesCommand({}));
  const stored = TableNames.map(async (name) => [name, await itemsIn(name)] as const);
  return new Map(await Promise.all(stored));
}

async function itemsIn(table: string): Promise<readonly string[]> {
  const { Items = [] } = await service.database.send(new ScanCommand({ TableName: table }));
  const write = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
  return Items.map((item) => JSON.stringify(item, write));
}

async function storedPseudonymKey(): Promise<string> {
  const [item = "{}"] = await itemsIn(service.tableName("pseudonym-keys"));
  return z.object({ key: z.object({ S: z.string() }) }).parse(JSON.parse(item)).key.S;
}

/** The identifiers that are in a text, in any encoding. */
function foundIn(text: string, key: string): string[] {
  const lower = text.toLowerCase();
  return identifiers.filter((one) => encodingsOf(one, key).some((encoded) => lower.includes(encoded)));
}

test("the search finds a text percent-encoded, in hexadecimal, hashed, and in base64 of a longer text", () => {
  const key = "a2V5";
  for (const before of ["", "1", "12", "123"]) {
    const longer = Buffer.from(`${before}${kim.phoneNumber}, and more`);
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      expect(foundIn(longer.toString(encoding), key)).toContain(kim.phoneNumber);
    }
  }
  expect(foundIn(`?number=${encodeURIComponent(String(kim.phoneNumber))}`, key)).toContain(kim.phoneNumber);
  expect(foundIn(hashed(kim.subscription), key)).toEqual([kim.subscription]);
  expect(foundIn(hashed("somebody else"), key)).toEqual([]);
});

test("ncs subject export prints everything about a person, found by number or subscription, and no credential", async () => {
  const { code, stdout, stderr } = await run("subject", "export", kim.subscription);
  expect(code, stderr).toBe(0);
  const { subscription, tables: exported } = JSON.parse(stdout);

  expect(subscription).toBe(kim.subscription);
  // Every other table is known to say nothing about a person: a new table must be decided about.
  expect([...Object.keys(exported), ...aboutNobody].sort()).toEqual(tables.map(({ name }) => name).sort());
  expect(exported.devices).toEqual([kim]);
  const { password, ...shown } = login;
  expect(exported.profiles).toEqual([{ ...shown, DateLastLogin: expect.any(String) }]);
  expect(exported["number-assignments"]).toEqual([assignments[1], assignments[2]]);
  const fraud = "dpv:FraudPreventionAndDetection";
  const read = exported["access-records"].map(({ client, kind, purpose }: Record<string, unknown>) => [
    client,
    kind,
    purpose,
  ]);
  expect(read).toEqual([
    ["shop", "subscription", fraud],
    ["shop", "number-history", fraud],
    ["shop", "device-identifiers", fraud],
    ["shop", "qos-profiles", fraud],
    ["shop", "device-identifiers", fraud],
    [String(login.ID), "number-history", undefined],
  ]);
  expect(stdout).not.toContain(password);
  expect(stdout).not.toMatch(new RegExp(`whsec_|scrypt|${sinkToken}`));
  const byNumber = await run("subject", "export", String(kim.phoneNumber));
  expect(JSON.parse(byNumber.stdout).tables.devices).toEqual([kim]);
});

test("ncs subject refuses a number whose device is one person's while another holds it", async () => {
  await service.put("devices", { ...robin, identifier: "phone#+447700900099", phoneNumber: "+447700900099" });
  await service.put("number-assignments", {
    phoneNumber: "+447700900099",
    subscriber: "x",
    from: "2020-01-01",
  });
  const { code, stderr } = await run("subject", "erase", "+447700900099");
  expect(code).toBe(1);
  expect(stderr).toBe(
    "the number is that of the device of line-of-robin, but x holds it: name the subscription\n",
  );
});

test("ncs subject says, without the number, that nothing is stored about a person whom it does not know", async () => {
  for (const named of ["nobody", "+447700999999"]) {
    const { code, stderr } = await run("subject", "erase", named);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "nothing is stored about this person\n" });
  }
  expect((await run("subject", "export", "+44 7700")).stderr).toBe(
    "this is no phone number: expected + and 5 to 15 digits, such as +34600000001\n",
  );
});

test("ncs subject erase --dry-run counts what would be deleted and deletes nothing", async () => {
  const records = async () => {
    const tables = (["devices", "profiles"] as const).map((table) => itemsIn(service.tableName(table)));
    return (await Promise.all(tables)).flat().sort();
  };
  const before = await records();
  const { code, stdout } = await run("subject", "erase", kim.subscription, "--dry-run");
  expect(code).toBe(0);
  expect(stdout).toContain("2 of number-assignments\n");
  expect(stdout).toMatch(/\d+ would be deleted from NetworkCapabilities-dev\n$/);
  expect(await records()).toEqual(before);
});

test("after ncs subject erase no table, queue or log has any identifier of the person in any encoding", async () => {
  const before = await allItems();
  const key = await storedPseudonymKey();
  const everything = (items: ReadonlyMap<string, readonly string[]>) => [...items.values()].flat().join("\n");
  const robins = (items: ReadonlyMap<string, readonly string[]>) =>
    [...items.values()]
      .flat()
      .filter((item) => item.includes("line-of-robin"))
      .sort();
  // The search can find: all of it is there, and the person's pseudonym and hashes are.
  expect(foundIn(everything(before), key)).toEqual(identifiers.filter((one) => one !== "3569380356438042"));
  expect(foundIn((before.get(service.tableName("access-records")) ?? []).join("\n"), key)).toContain(
    kim.subscription,
  );
  expect(foundIn((before.get(service.tableName("quotas")) ?? []).join("\n"), key)).toEqual([
    String(login.ID),
  ]);

  const { code, stdout, stderr } = await run("subject", "erase", String(kim.phoneNumber));

  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^6 of access-records$/m);
  expect(stdout).toMatch(/^5 of devices$/m);
  // The delivery that was begun ends when its message finds no job.
  await expect.poll(() => service.output()).toContain(`"${logId("JOB_GONE")}"`);
  const after = await allItems();
  expect(after.get(service.tableName("density-permits"))?.join("\n")).not.toContain(lostPermit.caller);
  // That Robin had the number years ago is Robin's.
  const others = (items: readonly string[]) => items.filter((item) => !item.includes("line-of-robin"));
  const left = [...after].map(([table, items]) => [table, foundIn(others(items).join("\n"), key)]);
  // What refuses webhook secrets to the login's tokens has a hash of its number, and nothing else.
  const secrets = service.tableName("webhook-secrets");
  expect(left.filter(([, found]) => found?.length !== 0)).toEqual([[secrets, [String(login.ID)]]]);
  expect(after.get(secrets)?.map((item) => JSON.parse(item))).toEqual([
    { caller: { S: hashed(String(login.ID)) }, secrets: { M: {} }, expiresAt: { N: expect.any(String) } },
  ]);
  expect(robins(after)).toEqual(robins(before));
  expect(queue.calls.filter(({ operation }) => operation === "SendMessage").length).toBeGreaterThan(0);
  expect(foundIn(JSON.stringify(queue.calls), key)).toEqual([]);
  // A log line of a login's request names the login's number by its hash. Nothing says any more whose number it was.
  const ownCaller = `"caller":"${hashed(String(login.ID))}"`;
  expect(service.output()).toContain(ownCaller);
  expect(foundIn(service.output().replaceAll(ownCaller, ""), key)).toEqual([]);

  const again = await run("subject", "erase", String(kim.phoneNumber));
  expect(again).toMatchObject({ code: 1, stderr: "nothing is stored about this person\n" });
});

test("tokens issued before ncs subject erase leave only what expires within 60 hours, and no webhook secret", async () => {
  const { phoneNumber, ipv4Addresses } = kim;
  const [ipv4Address] = ipv4Addresses;
  const { sink: _, sinkCredential: __, ...atOnce } = densitiesTo("");
  const toSink = sink.urlOf();
  for (const [path, sent, token, status = 404] of [
    [paths.login, { emailaddress: login.EmailAddress, password: login.password }, undefined, 401],
    [paths.secrets, {}, own, 403],
    [paths.number, { specifiedDate }, own],
    [paths.identifier, {}, own],
    [paths.profiles, {}, own],
    [paths.densities, atOnce, own, 200],
    [paths.summary, atOnce, own, 200],
    [paths.densities, densitiesTo(toSink), own, 202],
    [paths.densities, densitiesTo(sink.urlOf({ status: 500 })), own, 202],
    [paths.number, { specifiedDate, phoneNumber: "+447700918282" }, shop],
    [paths.identifier, { device: { phoneNumber } }, shop],
    [paths.identifier, { device: { ipv4Address } }, shop],
    [paths.profiles, { device: { phoneNumber } }, shop],
    [paths.identifier, {}, shopForKim],
  ] as const) {
    expect(await post(path, sent, token), path).toMatchObject({ status });
  }
  const headers = { authorization: `Bearer ${own}` };
  expect(await service.call("/qualityondemand/qos-profiles/QOS_E", { headers })).toMatchObject({
    status: 404,
  });
  expect(await service.call(paths.secrets, { headers })).toMatchObject({
    status: 200,
    body: { secrets: [] },
  });
  await expect.poll(() => sink.received(toSink)).toHaveLength(1);
  // The permit of another upload, whose worker is killed.
  await permitStore.add(lostPermit, AbortSignal.timeout(10_000));

  const all = await allItems();
  const key = await storedPseudonymKey();
  const expiring = z.object({ expiresAt: z.object({ N: z.coerce.number() }) });
  const hoursLeft = (item: string) => {
    const { data } = expiring.safeParse(JSON.parse(item));
    return ((data?.expiresAt.N ?? Number.POSITIVE_INFINITY) * 1_000 - Date.now()) / 3_600_000;
  };
  const ofKim = [...all].flatMap(([table, items]) => {
    const isAbout = (item: string) => foundIn(item, key).length > 0 || item.includes(lostPermit.caller);
    const about = items.filter((item) => !item.includes("line-of-robin") && isAbout(item));
    return about.map((item) => [table, hoursLeft(item)] as const);
  });
  // The scan can find: operations with their places and permits, counted requests, and the refusal of secrets.
  const found = ["density-jobs", "density-callers", "density-permits", "quotas", "webhook-secrets"] as const;
  expect([...new Set(ofKim.map(([table]) => table))]).toEqual(
    expect.arrayContaining(found.map(service.tableName)),
  );
  expect(ofKim.filter(([, hours]) => hours > 60)).toEqual([]);
});

async function putRecord(subscription: string): Promise<void> {
  const subject = pseudonymOf(subscription, await storedPseudonymKey());
  const at = `${new Date().toISOString()} ${crypto.randomUUID()}`;
  await service.put("access-records", { subject, at, client: "shop", kind: "subscription", expiresAt: 2e9 });
}

test("ncs subject erase --keep-access-records leaves who read what, and nothing else", async () => {
  const sam = "line-of-sam";
  await service.put("devices", { ...plainDevice, identifier: `subscription#${sam}`, subscription: sam });
  await putRecord(sam);
  const erased = await run("subject", "erase", sam, "--keep-access-records");
  expect(erased.stdout).toBe("1 of devices\n1 deleted from NetworkCapabilities-dev\n");
  const { stdout } = await run("subject", "export", sam);
  expect(JSON.parse(stdout).tables).toMatchObject({ "access-records": [{ client: "shop" }] });
});

test("ncs subject erase that was interrupted at any deletion is completed by repetitions, late records too", async () => {
  const { phoneNumber = "" } = robin;
  const { password: _, ...profile } = login;
  const address = "robin@operator.example";
  const robinsLogin = { ...profile, address, EmailAddress: address, ID: 31_415_926 };
  await service.put("profiles", { ...robinsLogin, subscription: robin.subscription });
  const gate = keep(await openFaultyEndpoint(service.databaseEndpoint));
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", gate.url);
  const denied = { refuse: { status: 400, name: "AccessDeniedException" } } as const;
  let left = 0;
  let interrupted = 0;
  let named = phoneNumber;
  // Leads this process to the stack's tables.
  expect(await run("subject", "export", named)).toMatchObject({ code: 0 });
  gate.inject(async ({ operation, parameters }) => {
    const sent = JSON.stringify(parameters);
    // What refuses webhook secrets is written as long as deletions succeed.
    if (operation === "PutItem" && sent.includes("webhook-secrets")) return left > 0 ? "pass" : denied;
    // The deletion of the lease always succeeds, and in each turn one more of the others.
    if (operation !== "DeleteItem" || sent.includes("import")) return "pass";
    if (left-- <= 0) return denied;
    // A request that found the device just before it was deleted.
    if (sent.includes(`phone#${phoneNumber}`)) await putRecord(robin.subscription);
    return "pass";
  });
  for (;;) {
    left = 1;
    // No request is under way that would have to end first.
    const erasing = withPatientCalls(() => erase(named, false, async () => {}));
    const outcome = await erasing.catch(({ message }: Error) => message);
    if (typeof outcome !== "string") {
      expect(outcome).toContainEqual(["access-records", 1]);
      break;
    }
    expect(outcome).toContain("AccessDenied");
    if (outcome.endsWith(`; repeat it with the subscription, ${robin.subscription}`))
      named = robin.subscription;
    interrupted++;
  }
  expect(interrupted).toBeGreaterThan(1);
  expect((await run("subject", "export", robin.subscription)).stderr).toContain("nothing is stored");
  const all = await allItems();
  const refusals = all.get(service.tableName("webhook-secrets")) ?? [];
  expect(refusals.join("\n")).toContain(hashed(String(robinsLogin.ID)));
  expect([...all.values()].flat().filter((item) => item.includes("line-of-robin"))).toEqual([
    expect.stringContaining("+447700900099"),
  ]);
});
