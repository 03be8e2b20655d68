import { APIGatewayProxyEventSchema } from "@aws-lambda-powertools/parser/schemas/api-gateway";
import { expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints } from "../../functions/areas.ts";
import { type Endpoint, failures, pathsOf } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { eventFileNames, readNamedEvent } from "../../tools/event-files.ts";
import { canHave, faultNames, readFault } from "../../tools/faults.ts";
import { neverAnswered } from "../../tools/never-answered.ts";
import { replayEvent } from "../support/replay-event.ts";
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
const eventsOf = ({ id }: Endpoint) => events.filter(({ functionId }) => functionId === id);

const faults = faultNames.map((name) => ({ name, ...readFault(name) }));
const faultsOf = (endpoint: Endpoint) =>
  faults.filter((fault) => codesOf(endpoint).includes(fault.code) && canHave(endpoint, fault));

/** The first event of each endpoint that is answered with success, with each fault that the endpoint can have. */
const faulty = declared.flatMap((endpoint) =>
  eventsOf(endpoint)
    .filter(({ status }) => status < 300)
    .slice(0, 1)
    .flatMap(({ name, functionId, event }) =>
      faultsOf(endpoint).map((fault) => ({
        name: `${name} --fault ${fault.name}`,
        functionId,
        event,
        fault,
      })),
    ),
);
// Other variables need a thread of their own. The sample has each kind of failure, of some functions.
const replayedFaults = [
  ...faulty.filter(({ fault }) => fault.environment === undefined),
  ...sampleOf(
    faulty.filter(({ fault }) => fault.environment !== undefined),
    7,
  ),
];

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
  async (_, { functionId, event, status, outcome }) => {
    const { statusCode, headers, body } = await replayEvent(functionId, event);

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
  async (_, { functionId, event, fault }) => {
    const { statusCode, body } = await replayEvent(functionId, event, fault.name);

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
