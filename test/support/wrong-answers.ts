import { segmentsOf, valuesAt, withValue } from "../../tools/verify/features/property-path.ts";
import type { World } from "../../tools/verify/features/world.ts";

/** Makes the answer of a scenario, or what was delivered, wrong. */
type Change = (world: World) => void;

/** By sentence, what must be refused if the answer so far was right. */
const rows: readonly (readonly [
  RegExp,
  (world: World, ...groups: readonly string[]) => readonly Change[],
])[] = [
  [/^the response status code is/, () => [withStatus(599)]],
  [
    /^the response header "(.+)" (?:is|has same value as)/,
    (_, name = "") => [withHeader(name, undefined), withHeader(name, "text/other")],
  ],
  [
    /^each item of the response array.* complies/,
    () => [
      withBody(() => 12345),
      withBody(() => [12345]),
      withBody((body) => (Array.isArray(body) ? [...body, {}] : {})),
    ],
  ],
  [
    /^the response array has only one item/,
    () => [withBody(() => []), withBody(() => [{}]), withBody((body) => [body, body].flat())],
  ],
  [
    /^the response body complies/,
    () => [withBody(() => undefined), withBody(() => 12345), withBody(() => ({}))],
  ],
  [
    /^each item of the response array.* has property "\$\[\*\]\.(\w+)"/,
    (_, name = "") => [withBody(() => [{ [name]: "?" }]), withBody(() => [{}])],
  ],
  [/^the response body is \[\]$/, () => [withBody(() => [1]), withBody(() => ({}))]],
  [/^the response property "(\$.+)" is an empty array$/, (_, path = "") => [...absentOr(path, [1])]],
  [/^the response includes property "(\$.+)"$/, (_, path = "") => [...absentOr(path, undefined)]],
  [
    /^the response property "(\$.+)" contains a user.friendly text$/,
    (_, path = "") => [...absentOr(path, "CODE")],
  ],
  [
    /^the response property "(\$.+)" exists and is a valid date-time in the past$/,
    (_, path = "") => [...absentOr(path, "2999-01-01T00:00:00Z"), ...absentOr(path, "yesterday")],
  ],
  [/^the response property "(\$.+)", if present,/, (_, path = "") => [bodyAt(path, () => "?")]],
  [
    /^the response property "(\$.+)" is equal to or (later|earlier) than/,
    (_, path = "", which) => [
      ...absentOr(path, which === "later" ? "1999-01-01T00:00:00Z" : "2999-01-01T00:00:00Z"),
      ...absentOr(path, "noon"),
    ],
  ],
  [
    /^the response property "(\$.+)" is a valid Geohash/,
    (_, path = "") => [...absentOr(path, "zzzzzz"), ...absentOr(path, "a")],
  ],
  [
    /^the response property "(\$.+)" items with property "(\w+)" == "?(\w+)"? have property "(\w+)"$/,
    (world, path = "", name = "", wanted = "", expected = "") => {
      const items = valuesAt(world.sentAnswer.body, path);
      const index = items.findIndex((item) => valuesAt(item, `$.${name}`)[0] === wanted);
      const without = (item: unknown, at: number) =>
        at === index ? withValue(item, `$.${expected}`, undefined) : item;
      return [eachAt(path, without), eachAt(path, () => ({}))];
    },
  ],
  [
    /^there is at least one item in response property "(\$.+)" equal to/,
    (_, path = "") => [eachAt(path, () => "?"), withBody(() => ({}))],
  ],
  [
    /^the (?:value of )?response property "(\$.+?)" /,
    (_, path = "") => [...absentOr(path, "?"), ...absentOr(path, 12345)],
  ],
  [
    /^(?:there have been some problem|the request with the response body will be received)/,
    () => [withoutDeliveries],
  ],
  [
    /^the request will have header "(.+)" set to/,
    (_, name = "") => [
      deliveredWith({ headers: {} }),
      deliveredWith({ headers: { [name.toLowerCase()]: "Bearer ?" } }),
      withoutDeliveries,
    ],
  ],
  [
    /^the request will have property "(\$.+)" equal to/,
    (_, path = "") => [deliveredAt(path, undefined), deliveredAt(path, "?"), withoutDeliveries],
  ],
  [
    /^the request body complies/,
    () => [deliveredWith({ body: 12345 }), deliveredWith({ body: {} }), withoutDeliveries],
  ],
  [
    /^the request body will have property "(\$.+)" equal to "\w+" and includes property "(\$.+)"$/,
    (_, path = "", included = "") => [
      deliveredAt(path, "?"),
      deliveredAt(path, undefined),
      deliveredAt(included, undefined),
    ],
  ],
  [/^the restricted QoS Profiles are returned/, () => [withBody(() => []), withBody(() => ({}))]],
  [
    /^no restricted QoS Profile is included/,
    ({ plan }) => [
      withBody(() => plan.qosProfiles.restricted.map((name) => ({ name }))),
      withBody(() => ({})),
    ],
  ],
];

/** Answers that a sentence must refuse, after one that it accepts. @throws {Error} for a sentence that has none. */
export function wrongAnswers(world: World, text: string): readonly Change[] {
  for (const [pattern, changes] of rows) {
    const groups = pattern.exec(text)?.slice(1);
    if (groups !== undefined) return changes(world, ...groups);
  }
  throw new Error(`no wrong answer is known for: ${text}`);
}

function withStatus(status: number): Change {
  return (world) => {
    world.answer = { ...world.sentAnswer, status };
  };
}

function withHeader(name: string, value: string | undefined): Change {
  return (world) => {
    const headers = new Headers(world.sentAnswer.headers);
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
    world.answer = { ...world.sentAnswer, headers };
  };
}

function withBody(change: (body: unknown) => unknown): Change {
  return (world) => {
    world.answer = { ...world.sentAnswer, body: change(world.sentAnswer.body) };
  };
}

/** Without the first value at a path, and with another one. */
function absentOr(path: string, other: unknown): readonly Change[] {
  return [undefined, other].map((value) => bodyAt(path, () => value));
}

/** With the first value at a path changed. */
function bodyAt(path: string, change: (value: unknown) => unknown): Change {
  return withBody((body) =>
    changed(body, segmentsOf(path), (value, index) => (index === 0 ? change(value) : value)),
  );
}

/** With all values at a path changed. */
function eachAt(path: string, change: (value: unknown, index: number) => unknown): Change {
  return withBody((body) => {
    let index = 0;
    return changed(body, segmentsOf(path), (value) => change(value, index++));
  });
}

/** A copy in which the values at a path are others; the index is that in the innermost list. */
function changed(
  value: unknown,
  [segment, ...rest]: readonly string[],
  change: (value: unknown, index: number) => unknown,
  index = 0,
): unknown {
  if (segment === undefined) return change(value, index);
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => {
      if (segment !== "*" && Number(segment) !== at) return [item];
      const other = changed(item, rest, change, at);
      return other === undefined ? [] : [other];
    });
  }
  const { [segment]: inner, ...others } = (value ?? {}) as Record<string, unknown>;
  const other = changed(inner, rest, change, index);
  return other === undefined ? others : { ...others, [segment]: other };
}

function deliveredWith(change: Partial<NonNullable<World["delivery"]>>): Change {
  return (world) => {
    if (world.delivery !== undefined) world.delivery = { ...world.delivery, ...change };
  };
}

function deliveredAt(path: string, value: unknown): Change {
  return (world) => deliveredWith({ body: withValue(world.delivery?.body, path, value) })(world);
}

/** As if the sink had got nothing. */
const withoutDeliveries: Change = (world) => {
  world.delivery = undefined;
  const { receiver } = world.surroundings;
  if (receiver === undefined) return;
  const surroundings = { ...world.surroundings, receiver: { ...receiver, delivery: async () => undefined } };
  Object.assign(world, { surroundings });
};
