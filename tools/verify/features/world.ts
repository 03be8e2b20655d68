import { send } from "../../calls/send.ts";
import { jsonIn } from "../../json-text.ts";
import type { DefinedOperation, Definition } from "./definitions.ts";
import { CannotRun, inPlan } from "./ending.ts";
import type { FeatureScenario } from "./parse-features.ts";
import type { Plan } from "./plan.ts";
import { segmentsOf, valuesAt, withValue } from "./property-path.ts";
import type { Delivery, Receiver } from "./receiver.ts";
import type { Tokens } from "./tokens.ts";

/** What all scenarios of a run share. */
export interface Surroundings {
  /** Address of the implementation, without a trailing slash. */
  readonly url: string;
  readonly plan: Plan;
  readonly definitions: readonly Definition[];
  readonly tokens: Tokens;
  /** Undefined if the plan has none. */
  readonly receiver: Receiver | undefined;
  /** Values that only the implementation knows, as it first answered them. */
  readonly learned: Map<string, unknown>;
}

/** What the implementation answered. */
export interface FeatureAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if it is no JSON. */
  readonly body: unknown;
}

/** One scenario as its steps see and change it: the request that they build, and its answer. */
export class World {
  readonly surroundings: Surroundings;
  readonly scenario: FeatureScenario;
  readonly headers = new Headers();
  readonly pathParameters: Record<string, string> = {};
  /** What a reader of the report should know, such as how a step was understood. */
  readonly notes: string[] = [];
  /** Undefined for a request without a body. */
  body: unknown;
  /** Whose valid token is sent; undefined for a token that is not valid. */
  caller: string | undefined;
  /** Whose token is sent where a step only says that it is valid. */
  usualCaller: string;
  /** The SIM card and the device that it is in. */
  installed: { readonly simCard: string; readonly device: string } | undefined;
  /** The status with which the sink refuses answers, so that the operation fails. */
  failingStatus: number | undefined;
  answer: FeatureAnswer | undefined;
  delivery: Delivery | undefined;
  #resource: { path: string; definition: Definition; operation: DefinedOperation } | undefined;

  constructor(surroundings: Surroundings, scenario: FeatureScenario) {
    this.surroundings = surroundings;
    this.scenario = scenario;
    this.usualCaller = surroundings.plan.application;
  }

  get plan(): Plan {
    return this.surroundings.plan;
  }

  /** What the scenario is about. @throws {CannotRun} before a step has named it. */
  get resource() {
    if (this.#resource === undefined) throw new CannotRun("no step names the resource");
    return this.#resource;
  }

  get sentAnswer(): FeatureAnswer {
    if (this.answer === undefined) throw new CannotRun("no step sends the request");
    return this.answer;
  }

  /** Chooses the operation of a resource that the scenario sends. */
  useResource(path: string): void {
    const { definitions } = this.surroundings;
    const found = definitions.flatMap((definition) =>
      definition.operationsAt(path).map((operation) => ({ path, definition, operation })),
    );
    const isSent = ({ operation: { id, method } }: (typeof found)[number]) =>
      this.scenario.steps.some(
        ({ text }) => text.includes(`"${id}"`) || text.includes(`"${method}" request`),
      );
    this.#resource = found.find(isSent);
    if (this.#resource === undefined) {
      throw new CannotRun(`no API definition has the operation of ${path} that the scenario sends`);
    }
  }

  async useCaller(caller: string): Promise<void> {
    this.caller = caller;
    this.headers.set("authorization", `Bearer ${await this.surroundings.tokens.of(caller)}`);
  }

  useToken(token: string): void {
    this.caller = undefined;
    this.headers.set("authorization", `Bearer ${token}`);
  }

  /** Sets a member of the body, or removes it with undefined. Names are those of the definition, in any case. */
  setProperty(path: string, value: unknown): void {
    this.body = withValue(this.body, this.#definedPath(path), value);
  }

  /** What the request has at a path. */
  sentValue(path: string): unknown {
    return valuesAt(this.body, this.#definedPath(path))[0];
  }

  async send(): Promise<void> {
    this.answer = await this.#ask(this.headers, this.body);
  }

  /** What another caller is answered, who sends another body; the scenario's own answer stays. */
  async ask(caller: string, body: unknown): Promise<FeatureAnswer> {
    const headers = new Headers(this.headers);
    headers.set("authorization", `Bearer ${await this.surroundings.tokens.of(caller)}`);
    return await this.#ask(headers, body);
  }

  /** @throws {CannotRun} naming what the value of the plan lacks by the definition. */
  requireCompliant(value: unknown, pointer: string, what: string): void {
    const problem = this.resource.definition.problemOf(value, pointer);
    if (problem !== undefined) throw new CannotRun(`${what} is not as ${pointer} says: ${problem}`);
  }

  async #ask(headers: Headers, body: unknown): Promise<FeatureAnswer> {
    const { operation, path } = this.resource;
    const { url, plan } = this.surroundings;
    const place = (plan.paths[path] ?? path).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(inPlan(this.pathParameters[name], `value of the path parameter ${name}`)),
    );
    const response = await send(`${url}${place}`, {
      method: operation.method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: jsonIn(await response.text()) };
  }

  /** The features have a member in another case than their definitions: `ipv4address`. */
  #definedPath(path: string): string {
    const { definition, operation } = this.resource;
    let pointer = operation.body;
    const names = segmentsOf(path).map((name) => {
      const members = pointer === undefined ? {} : definition.membersOf(pointer);
      const defined = Object.keys(members).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
      pointer = members[defined];
      return defined;
    });
    const definedPath = `$.${names.join(".")}`;
    if (definedPath !== path) this.notes.push(`${path} is read as ${definedPath}`);
    return definedPath;
  }
}
