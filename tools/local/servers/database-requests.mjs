/** The embedded DynamoDB: dynalite. It has no transactions, and the service makes none (docs/decisions/0016). */
import { Readable } from "node:stream";
import dynalite from "dynalite";
import db from "dynalite/db/index.js";
import deleteItem from "dynalite/validations/deleteItem.js";
import putItem from "dynalite/validations/putItem.js";
import updateItem from "dynalite/validations/updateItem.js";
import { putOf } from "./insert-statement.mjs";
import { onlyPrograms } from "./own-requests.mjs";

/**
 * An HTTP server, not listening yet.
 * @param allowedHosts names by which it can be called, in addition to loopback ones.
 */
export function databaseServer(allowedHosts) {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const [answer] = server.listeners("request");
  server.removeAllListeners("request");
  const answerProgram = (request, response) => {
    const execute = statements[request.headers["x-amz-target"]];
    if (execute !== undefined) {
      void execute(request, response, answer);
      return;
    }
    answer(request, response);
    // dynalite's error listener throws if the client disconnects, which would end the thread.
    request.removeAllListeners("error");
    request.on("error", () => response.destroy());
  };
  server.on("request", onlyPrograms(answerProgram, allowedHosts));
  return server;
}

const version = "DynamoDB_20120810";

/**
 * A write whose condition fails takes units too, by the larger of the item that is there and the one that was to be
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).
 * DynamoDB does not say how many, as an error has no capacity; here it does, if the request asks for the capacity.
 */
const { checkConditional } = db;
db.checkConditional = (call, existing) => {
  const failure = checkConditional(call, existing);
  if (failure)
    failure.body.ConsumedCapacity = db.addConsumedCapacity(call, false, call.Item ?? call.Key, existing);
  if (failure && call.ReturnValuesOnConditionCheckFailure === "ALL_OLD") failure.body.Item = existing;
  return failure;
};

// A write whose condition fails returns the item that is there, if it is asked to.
for (const { types } of [deleteItem, putItem, updateItem])
  types.ReturnValuesOnConditionCheckFailure = { type: "String", enum: ["ALL_OLD", "NONE"] };

/** How statements are executed, by the target of the request. */
const statements = {
  [`${version}.ExecuteStatement`]: answering(async ({ input, put }) => {
    const { status, text } = await put(input);
    return { status, text: text.replace("ConditionalCheckFailedException", "DuplicateItemException") };
  }),
  [`${version}.BatchExecuteStatement`]: answering(async ({ input, put }) => {
    const { Statements, ReturnConsumedCapacity } = input;
    const results = await Promise.all(
      Statements.map((statement) => put({ ...statement, ReturnConsumedCapacity })),
    );
    const outputs = results.map(({ text }) => JSON.parse(text));
    return {
      status: 200,
      text: JSON.stringify({
        Responses: outputs.map((output, index) => statementResponse(results[index].status, output)),
        ConsumedCapacity: outputs.flatMap(({ ConsumedCapacity }) => ConsumedCapacity ?? []),
      }),
    };
  }),
};

function statementResponse(status, { __type, message }) {
  if (status === 200) return {};
  const [, name] = /#(.*?)(?:Exception)?$/.exec(__type) ?? [];
  return { Error: { Code: name === "ConditionalCheckFailed" ? "DuplicateItem" : name, Message: message } };
}

/** Answers a request by what is executed, or that its statements are unknown. */
function answering(execute) {
  return async (request, response, answer) => {
    const { authorization, "content-type": contentType, "x-amz-date": date } = request.headers;
    const target = `${version}.PutItem`;
    const headers = {
      authorization,
      "content-type": contentType,
      "x-amz-date": date,
      "x-amz-target": target,
    };
    try {
      const input = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const { status, text } = await execute({ input, put: (statement) => put(statement, headers, answer) });
      response.writeHead(status, { "content-type": contentType }).end(text);
    } catch (error) {
      response.writeHead(400, { "content-type": "application/x-amz-json-1.0" }).end(
        JSON.stringify({
          __type: `com.amazonaws.dynamodb.v20120810#ValidationException`,
          message: String(error),
        }),
      );
    }
  };
}

/** What dynalite answers to the put that stands for a statement, without a connection for each. */
function put(statement, headers, answer) {
  const request = Object.assign(Readable.from([Buffer.from(JSON.stringify(putOf(statement)))]), {
    method: "POST",
    url: "/",
    headers,
  });
  return new Promise((resolve) => {
    const response = {
      setHeader: () => {},
      end: (text) => resolve({ status: response.statusCode, text }),
    };
    answer(request, response);
  });
}
