import type { oas31 } from "zod-openapi";
import { hourMilliseconds } from "../../shared/calendar.ts";

const methods = ["get", "head", "post", "delete"] as const;

/** What stands for values of paths that examples do not have. */
const parameters: Readonly<Record<string, string>> = {
  name: "QOS_E",
  operationId: "{{delivery.response.body.$.operationId}}",
  id: "{{secret.response.body.$.id}}",
};

/** The names of requests, by operation, whose responses later ones refer to. */
const names: Readonly<Record<string, string>> = {
  authenticateProfile: "login",
  createWebhookSecret: "secret",
};

const header = (
  url: string,
) => `# Every operation as a request, for the REST Client of Visual Studio Code, and for httpYac.
# Send them from the first one down: the first logs in, and operations are about the delivery before them.

@service = ${url}
# Where densities are delivered.
@sink = http://127.0.0.1:8080/densities
@token = {{login.response.body.$.Data.access_token}}
`;

/**
 * An `.http` file with each operation of a document and its example, once for each type of answer. Comments say which
 * status is answered with the demo data.
 * @param url the address of the service.
 */
export function httpRequests(document: oas31.OpenAPIObject, url: string): string {
  const requests = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => requestsOf(document, path, method, item[method])),
  );
  return [header(url), ...requests].join("\n");
}

function requestsOf(
  document: oas31.OpenAPIObject,
  path: string,
  method: (typeof methods)[number],
  operation: oas31.OperationObject | undefined,
): readonly string[] {
  if (operation === undefined) return [];
  const { operationId, summary = "", responses = {} } = operation;
  const body = exampleOf(document, operation);
  const isPublic = operation.security?.length === 0;
  const [status = ""] = Object.keys(responses).filter((key) => key.startsWith("2"));
  const { content = {} } = responses[status] as oas31.ResponseObject;
  const [, ...otherTypes] = Object.keys(content);
  const written = (title: string, answers: string, headers: readonly string[], sent = body, name?: string) =>
    [
      `### ${title}`,
      ...(name === undefined ? [] : [`# @name ${name}`]),
      `# Answers ${answers}${"409" in responses ? ", or 409 when the state of the operation does not allow it" : ""}.`,
      `${method.toUpperCase()} {{service}}${path.replaceAll(/\{(\w+)\}/g, (_, key: string) => parameters[key] ?? key)}`,
      ...(isPublic ? [] : ["Authorization: Bearer {{token}}"]),
      ...(sent === undefined ? [] : ["Content-Type: application/json"]),
      ...headers,
      ...(sent === undefined ? [] : ["", textOf(sent)]),
      "",
    ].join("\n");
  const toSink = {
    sink: "",
    sinkCredential: { credentialType: "ACCESSTOKEN", accessToken: "my-sink-token" },
  };
  return [
    written(summary, status, [], body, names[operationId ?? ""]),
    ...otherTypes.map((type) => written(`${summary} as ${type}`, status, [`Accept: ${type}`])),
    ...(operation.callbacks === undefined || status === "202"
      ? []
      : [
          written(
            `${summary}, delivered to a sink`,
            "202",
            ["Idempotency-Key: {{$guid}}"],
            { ...body, ...toSink },
            "delivery",
          ),
        ]),
  ];
}

type Body = Readonly<Record<string, unknown>>;

/** The first example of an operation's body. */
function exampleOf(document: oas31.OpenAPIObject, { requestBody }: oas31.OperationObject): Body | undefined {
  const { content } = (requestBody ?? {}) as Partial<oas31.RequestBodyObject>;
  const [reference] = Object.values(content?.["application/json"]?.examples ?? {}) as oas31.ReferenceObject[];
  const name = reference?.$ref.split("/").at(-1) ?? "";
  return (document.components?.examples?.[name] as oas31.ExampleObject | undefined)?.value as
    | Body
    | undefined;
}

/** A body with its sink as it is set, and its period moved to begin in an hour. */
function textOf(body: Body): string {
  const { startTime, endTime } = body;
  const hours = Math.ceil((Date.parse(`${endTime}`) - Date.parse(`${startTime}`)) / hourMilliseconds);
  const set: Body = {
    sink: "{{sink}}",
    startTime: "{{$datetime iso8601 1 h}}",
    endTime: `{{$datetime iso8601 ${1 + hours} h}}`,
  };
  return JSON.stringify(body, (name, value) => (Object.hasOwn(set, name) ? set[name] : value), 2);
}
