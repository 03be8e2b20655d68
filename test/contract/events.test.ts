import { APIGatewayProxyEventSchema } from "@aws-lambda-powertools/parser/schemas/api-gateway";
import { expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints } from "../../functions/areas.ts";
import { type Endpoint, failures, pathsOf } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { neverAnswered } from "../../tools/docs/never-answered.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { canHave, faultNames, readFault } from "../../tools/faults.ts";
import { invokeEvent } from "../support/invoke-event.ts";
import { sampleOf } from "../support/sample.ts";

/** The deadline needs a dependency that hangs: `test/contract/faults.test.ts`. */
const failuresWithEvents = failures.filter((code) => code !== "TIMEOUT");

const declared: readonly Endpoint[] = [...endpoints, ...protocolEndpoints];
const reasons: Readonly<Record<string, Readonly<Partial<Record<Code, string>>>>> = neverAnswered;
const identified = declared.map((endpoint) => [endpoint.id, endpoint] as const);
const codesOf = ({ id, errors }: Endpoint) =>
  [...errors, ...failuresWithEvents].filter((code) => reasons[id]?.[code] === undefined);

const events = await Promise.all(
  eventFileNames().map(async (name) => ({ name, ...(await readNamedEvent(name)) })),
);
const answers = new Map<string, Awaited<ReturnType<typeof invokeEvent>>>();
for (const { name, functionId, event } of events) answers.set(name, await invokeEvent(functionId, event));
const answerTo = (name: string) => answers.get(name) ?? expect.fail(`${name} was not replayed`);
const eventsOf = ({ id }: Endpoint) => events.filter(({ functionId }) => functionId === id);

const faults = faultNames.map((name) => ({ name, ...readFault(name) }));
const faultsOf = (endpoint: Endpoint) =>
  faults.filter((fault) => codesOf(endpoint).includes(fault.code) && canHave(endpoint, fault));

/** The first event of each endpoint that is answered with success, with each fault that the endpoint can have. */
const faulty = declared.flatMap((endpoint) =>
  eventsOf(endpoint)
    .filter(({ status }) => status < 300)
    .slice(0, 1)
    .flatMap(({ name: file, functionId }) =>
      faultsOf(endpoint).map((fault) => ({ name: `${file} --fault ${fault.name}`, file, functionId, fault })),
    ),
);
// Other variables need a thread of their own. The sample has each such fault, of one function.
const replayedFaults = faults.flatMap(({ name, environment }) => {
  const own = faulty.filter(({ fault }) => fault.name === name);
  return environment === undefined ? own : sampleOf(own, 1);
});

const outcomeOf = (code: string) => code.toLowerCase().replaceAll(/[._]/g, "-");

test("every file of events/ is an event of API Gateway", () => {
  const errors = events.flatMap(({ name, event }) => {
    const { error } = APIGatewayProxyEventSchema.safeParse(event);
    return error === undefined ? [] : [`${name}: ${error.message}`];
  });
  expect(errors).toEqual([]);
});

test.each(events.map((file) => [file.name, file] as const))(
  "events/%s is answered with the status and code of its name",
  (name, { event, status, outcome }) => {
    const { statusCode, headers, body } = answerTo(name);

    expect(statusCode).toBe(status);
    expect(headers["x-correlator"]).toMatch(/./);
    expect(event).toMatchObject({ requestContext: { requestId: headers["x-request-id"] } });
    if (status < 400) return;
    const error = errorBody.parse(JSON.parse(body));
    expect(error.status).toBe(status);
    expect(`${outcome}-`).toMatch(new RegExp(`^${outcomeOf(error.code)}-`));
  },
);

test.each(replayedFaults.map((file) => [file.name, file] as const))(
  "events/%s is answered with the fault's status and code",
  async (_, { file, functionId, fault }) => {
    // Read again, for an assertion that was not used before.
    const { event } = await readNamedEvent(file);
    const { statusCode, body } = await invokeEvent(functionId, event, fault.name);

    expect(statusCode).toBe(fault.status);
    expect(errorBody.parse(JSON.parse(body))).toMatchObject({ status: fault.status, code: fault.code });
  },
);

test.each(identified)(
  "%s has an event or a fault for every code its function can answer with",
  (_, endpoint) => {
    const causes = [
      ...eventsOf(endpoint),
      ...faultsOf(endpoint).map(({ name, status }) => ({ outcome: name, status })),
    ];
    const missing = codesOf(endpoint).filter(
      (code) =>
        !causes.some(
          ({ status, outcome }) => status === errorRow(code).status && outcome.startsWith(outcomeOf(code)),
        ),
    );
    expect(missing).toEqual([]);
  },
);

test.each(identified)(
  "%s declares every code that the list of codes never answered names for it",
  (id, { errors }) => {
    const possible: readonly string[] = [...errors, ...failures];
    expect(Object.keys(reasons[id] ?? {}).filter((code) => !possible.includes(code))).toEqual([]);
  },
);

test.each(identified)("%s has an event for each of its successes", (_, endpoint) => {
  const statuses = eventsOf(endpoint).map(({ status }) => status);
  const missing = Object.keys(endpoint.responses).filter((status) => !statuses.includes(Number(status)));
  expect(missing).toEqual([]);
});

const routed = z.object({ resource: z.string(), httpMethod: z.string() });

test.each(identified)(
  "%s has an event of a success for each of its paths, and no event for another path",
  (_, endpoint) => {
    const own = eventsOf(endpoint).map(({ event, status }) => ({ ...routed.parse(event), status }));
    const routes = own.map(({ httpMethod, resource }) => `${httpMethod} ${resource}`);
    const good = own
      .filter(({ status }) => status < 300)
      .map(({ httpMethod, resource }) => `${httpMethod} ${resource}`);
    const expected = pathsOf(endpoint)
      .map((path) => `${endpoint.method} ${path}`)
      .sort();

    expect([...new Set(good)].sort()).toEqual(expected);
    expect(routes.filter((route) => !expected.includes(route))).toEqual([]);
  },
);

/** What differs from one run to the next, and what is recorded in its place, by area. */
const masks: Readonly<Record<string, readonly (readonly [form: RegExp, mask: string])[]>> = {
  "device-identifier": [[/"ppid":"[0-9a-f]{64}"/, '"ppid":"<64 digits>"']],
  keys: [[/"(x|y|kid)":"[\w-]+"/g, '"$1":"<key>"']],
  "number-recycling": [],
  "population-density": [
    [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
    [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>"],
    // Fewer people are in the cells at night.
    [/"(\w*plDensity)":(?:\d+|null|\[[\d,nul]+\])/g, '"$1":<people>'],
    [/"dataType":"(?:DENSITY_ESTIMATION|LOW_DENSITY)"(?:,"\w*plDensity":<people>)*/g, '"dataType":<density>'],
    [/"dataType":\[(?:,?"(?:LOW_DENSITY|DENSITY_ESTIMATION)")+\]/g, '"dataType":[<density>]'],
    [/(?:DENSITY_ESTIMATION(?:,\d+){3}|LOW_DENSITY,,,)/g, "<density>"],
    [/"(people|minPeople|maxPeople|cells|areaKm2)":[\d.]+/g, '"$1":<number>'],
    [/"densestCell":(?:null|\{[^}]*\})/g, '"densestCell":<cell>'],
    [/^(<time>,<time>)(?:,\d*){3},.*(?:true|false)/gm, "$1,<summary>"],
    [/\r/g, "␍"],
  ],
  profile: [[/"(access_token|DateLastLogin)":"[^"]+"/g, '"$1":"<varies>"']],
  "qos-profiles": [],
};

/** Successes that depend on what else is stored for the caller. */
const dependsOnOthers = /^population-density\/(?:capabilities|\w+-operations?|\w+-webhook-secrets?)\.2/;

const specified = new Set(endpoints.map(({ path }): string => path));
const areaOf = (name: string) => name.split("/")[0] ?? "";

// `docs/openapi.json` is the record of the area openapi. To record again, on purpose:
// npx vitest run test/contract/events.test.ts -u
test("every answer on a path of the specification is the recorded one, byte by byte", async () => {
  const recorded = events.flatMap(({ name, event }) => {
    const varying = masks[areaOf(name)];
    const isRecorded =
      varying !== undefined && !dependsOnOthers.test(name) && specified.has(routed.parse(event).resource);
    if (!isRecorded) return [];
    const { statusCode, body } = answerTo(name);
    const masked = varying.reduce((text, [form, mask]) => text.replace(form, mask), body);
    return `${name}\n${statusCode} ${masked}\n`;
  });
  await expect(recorded.join("\n")).toMatchFileSnapshot("recorded-answers.txt");
});
