import * as z from "zod";
import { send } from "../calls/send.ts";
import { jsonIn } from "../json-text.ts";
import type { Scenario } from "./scenarios.ts";

/** What became of a scenario. */
export interface Outcome {
  readonly name: string;
  readonly milliseconds: number;
  /** What was expected and what was answered, without a value of the answer; undefined if it is as it should be. */
  readonly failure: string | undefined;
  /** How it was understood, where that is not evident. */
  readonly notes?: readonly string[];
}

const errorInfo = z.object({ status: z.number(), code: z.string(), message: z.string().min(1) });

const operation = z.object({ operationId: z.string() });
const webhookSecret = z.object({ id: z.string(), secret: z.string() });

/** Sends a scenario's request, and reads the answer. */
async function sendScenario(
  { endpoint, path, headers, body }: Scenario,
  url: string,
  authorization: Readonly<Record<string, string>>,
) {
  const begun = performance.now();
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const response = await send(`${url}${path}`, {
    method: endpoint.method,
    headers: { ...type, ...headers, ...authorization },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { response, text, milliseconds: performance.now() - begun };
}

/**
 * Sends a scenario's request and compares the answer with the contract. Deliveries that it begins are cancelled, and
 * webhook secrets that it creates are deleted.
 */
export async function runScenario(
  scenario: Scenario,
  url: string,
  tokenOf: (login: NonNullable<Scenario["login"]>) => Promise<string>,
): Promise<Outcome> {
  const { name, login } = scenario;
  const authorization: Record<string, string> =
    login === undefined ? {} : { authorization: `Bearer ${await tokenOf(login)}` };
  const { response, text, milliseconds } = await sendScenario(scenario, url, authorization);
  const remove = async (family: string, id: string | undefined) => {
    if (id === undefined) return;
    // Not at the `Location`, which may be on another host: the token is for this one.
    const place = `${url}/populationdensitydata/${family}/${encodeURIComponent(id)}`;
    const removed = await send(place, { method: "DELETE", headers: authorization });
    await removed.arrayBuffer();
  };
  if (response.status === 202)
    await remove("operations", operation.safeParse(jsonIn(text)).data?.operationId);
  if (response.status === 201)
    await remove("webhook-secrets", webhookSecret.safeParse(jsonIn(text)).data?.id);
  return { name, milliseconds, failure: failureOf(scenario, response, text) };
}

function failureOf(scenario: Scenario, response: Response, text: string): string | undefined {
  const { endpoint, status, code, headers } = scenario;
  const body = jsonIn(text);
  if (response.status !== status) {
    const answered = errorInfo.safeParse(body).data?.code;
    const shown = (...parts: readonly unknown[]) => parts.filter((part) => part !== undefined).join(" ");
    return `expected ${shown(status, code)}, answered ${shown(response.status, answered)}`;
  }
  const sent = headers["x-correlator"];
  const echoed = response.headers.get("x-correlator");
  if (code !== undefined) {
    const error = errorInfo.safeParse(body);
    if (!error.success) return `the body of ${status} is not an error with status, code and message`;
    if (error.data.code !== code) return `expected the code ${code}, answered ${error.data.code}`;
    if (error.data.status !== status) return "the body has another status than the response";
  } else if (!isOtherForm(scenario, response)) {
    const parsed = endpoint.responses[status]?.safeParse(body);
    if (parsed?.success === false) {
      const [issue] = parsed.error.issues;
      return `the body is not as declared, at ${issue?.path.map(String).join(".") || "its root"}: ${issue?.message}`;
    }
  }
  // A correlator of another form is not echoed, but replaced.
  if (sent !== undefined && code === undefined && echoed === null) return "the response has no x-correlator";
  return undefined;
}

/** Whether the request asks for another form than JSON, and the answer has it: the contract declares JSON only. */
function isOtherForm({ headers }: Scenario, response: Response): boolean {
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  return type !== "" && type !== "application/json" && (headers.accept ?? "").includes(type);
}
