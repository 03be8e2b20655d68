/** The embedded DynamoDB: dynalite. It has no transactions, and the service makes none (docs/decisions/0016). */
import dynalite from "dynalite";
import db from "dynalite/db/index.js";
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
    if (request.headers["x-amz-target"] === `${version}.ExecuteStatement`) {
      void executeStatement(request, response, server.address().port);
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
  return failure;
};

/** Answers with what dynalite answers to the put that stands for the statement. */
async function executeStatement(request, response, port) {
  try {
    const input = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const { authorization, "content-type": contentType, "x-amz-date": date } = request.headers;
    const put = await fetch(`http://127.0.0.1:${port}`, {
      method: "POST",
      headers: {
        authorization,
        "content-type": contentType,
        "x-amz-date": date,
        "x-amz-target": `${version}.PutItem`,
      },
      body: JSON.stringify(putOf(input)),
    });
    const text = await put.text();
    response
      .writeHead(put.status, { "content-type": contentType })
      .end(text.replace("ConditionalCheckFailedException", "DuplicateItemException"));
  } catch (error) {
    response.writeHead(400, { "content-type": "application/x-amz-json-1.0" }).end(
      JSON.stringify({
        __type: `com.amazonaws.dynamodb.v20120810#ValidationException`,
        message: String(error),
      }),
    );
  }
}
