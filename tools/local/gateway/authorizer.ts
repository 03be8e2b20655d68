/**
 * Lambda authorizers of the TOKEN kind.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
import * as z from "zod";
import { authorizer } from "../../../infra/gateway.ts";
import { InvocationError } from "../lambda/invocation-error.ts";
import { GatewayError } from "./gateway-responses.ts";
import { decide, policySchema } from "./policy.ts";
import { headerOf, type ReceivedRequest } from "./received-request.ts";

const cachedTokens = 1_000;

const expression = new RegExp(authorizer.expression);

/** The authorizer's context as a function receives it: strings, except for the duration of the call in milliseconds. */
export type AuthorizerContext = Readonly<Record<string, string | number>>;

const answerSchema = z.object({
  principalId: z.string(),
  policyDocument: policySchema,
  context: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .nullish()
    .transform((context) => context ?? {}),
});

type Answer = z.output<typeof answerSchema>;

/** One authorizer with its cache: there is one for each scope. */
export class Authorizer {
  readonly #invoke: (event: unknown) => Promise<unknown>;
  readonly #remembered = new Map<string, { readonly answer: Answer; readonly until: number }>();

  /** @param invoke calls the authorizer's function. */
  constructor(invoke: (event: unknown) => Promise<unknown>) {
    this.#invoke = invoke;
  }

  /**
   * Authorizes one request. The result is cached by token alone; its policy is evaluated for the method of each
   * request.
   * @throws {GatewayError} when the request must not reach its function.
   */
  async authorize(request: ReceivedRequest, methodArn: string): Promise<AuthorizerContext> {
    const token = headerOf(request, authorizer.header);
    if (!token || !expression.test(token)) throw new GatewayError("UNAUTHORIZED");

    const remembered = this.#recall(token);
    const startedAt = performance.now();
    const answer = remembered ?? (await this.#ask(token, methodArn));
    if (remembered === undefined) this.#remember(token, answer);

    const decision = decide(answer.policyDocument, "execute-api:Invoke", methodArn);
    if (decision !== "allow") {
      throw new GatewayError("ACCESS_DENIED", decision, { context: answer.context });
    }
    const integrationLatency = remembered ? 0 : Math.round(performance.now() - startedAt);
    return { ...answer.context, principalId: answer.principalId, integrationLatency };
  }

  async #ask(token: string, methodArn: string): Promise<Answer> {
    let answered: unknown;
    try {
      answered = await this.#invoke({ type: "TOKEN", authorizationToken: token, methodArn });
    } catch (error) {
      if (!(error instanceof InvocationError)) throw error;
      if (error.message === "Unauthorized") throw new GatewayError("UNAUTHORIZED");
      throw new GatewayError("AUTHORIZER_FAILURE", `${error.errorType}: ${error.message}`, {
        cause: error,
      });
    }
    const answer = answerSchema.safeParse(answered);
    if (answer.success) return answer.data;
    throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR", z.prettifyError(answer.error));
  }

  #recall(token: string): Answer | undefined {
    const entry = this.#remembered.get(token);
    if (entry === undefined || entry.until > Date.now()) return entry?.answer;
    this.#remembered.delete(token);
    return undefined;
  }

  #remember(token: string, answer: Answer): void {
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined && this.#remembered.size >= cachedTokens) this.#remembered.delete(oldest);
    this.#remembered.set(token, { answer, until: Date.now() + authorizer.cacheSeconds * 1_000 });
  }
}
