/**
 * The thread of the embedded SQS: it posts its port to the thread that started it. If
 * `workerData` names a folder, the messages are stored there. It loads only fauxqs's queues: the server that fauxqs
 * exports includes S3 and SNS, which take longer to load than everything else at the start.
 */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { parentPort, workerData } from "node:worker_threads";
import { onlyPrograms } from "./own-requests.mjs";

// fauxqs does not export these modules.
const load = (file) => import(new URL(`./sqs/${file}.js`, import.meta.resolve("fauxqs")).href);
const [{ SqsStore }, { SqsRouter }, { SqsError }] = await Promise.all([
  load("sqsStore"),
  load("sqsRouter"),
  load("../common/errors"),
]);

const actions = [
  "changeMessageVisibility",
  "changeMessageVisibilityBatch",
  "createQueue",
  "deleteMessage",
  "deleteMessageBatch",
  "deleteQueue",
  "getQueueAttributes",
  "getQueueUrl",
  "listQueueTags",
  "listQueues",
  "purgeQueue",
  "receiveMessage",
  "sendMessage",
  "sendMessageBatch",
  "setQueueAttributes",
  "tagQueue",
  "untagQueue",
];

const store = new SqsStore();
const kept = await openKeptMessages(workerData.folder);
if (kept !== undefined) {
  const { createQueue } = store;
  store.createQueue = (...parameters) => {
    const queue = createQueue.apply(store, parameters);
    kept.attach(queue);
    return queue;
  };
}

// Queue URLs then contain the requested host instead of one that some machines cannot resolve.
store.host = undefined;

const router = new SqsRouter(store);
for (const action of actions) {
  router.register(`${action[0].toUpperCase()}${action.slice(1)}`, async (body, ...others) => {
    const loaded = await load(`actions/${action}`);
    if (action === "changeMessageVisibility") checkVisibility(body);
    const result = await loaded[action](body, ...others);
    if (action === "receiveMessage") noteReceives(body, result);
    return result;
  });
}

/** When hidden messages were received, by their entries in their queue. */
const receivedAt = new WeakMap();

function noteReceives({ QueueUrl }, { Messages = [] }) {
  const hidden = store.getQueue(QueueUrl)?.inflightMessages;
  for (const { ReceiptHandle } of Messages) {
    const entry = hidden?.get(ReceiptHandle);
    if (entry !== undefined) receivedAt.set(entry, Date.now());
  }
}

/** SQS's limit for hiding a message after it was received. */
const maxHiddenMilliseconds = 43_200_000;

/**
 * Adds what fauxqs lacks: a hidden message becomes visible on time even if nobody polls, and is hidden for 12 hours at
 * most.
 */
function checkVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout }) {
  const queue = store.getQueue(QueueUrl);
  queue?.processTimers();
  const entry = queue?.inflightMessages.get(ReceiptHandle);
  if (entry === undefined) return;
  const total = Date.now() - (receivedAt.get(entry) ?? 0) + VisibilityTimeout * 1_000;
  if (total > maxHiddenMilliseconds) {
    throw new SqsError(
      "InvalidParameterValue",
      `Value ${VisibilityTimeout} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the ` +
        "message is beyond the limit [43200 seconds].",
    );
  }
}

async function answer(request, response) {
  const reply = {
    status: (code) => {
      response.statusCode = code;
    },
    header: (name, value) => response.setHeader(name, value),
  };
  try {
    const body = await json(request);
    const result = await router.handle({ headers: request.headers, body }, reply);
    await kept?.written();
    response.end(JSON.stringify(result ?? {}));
  } catch (error) {
    response.writeHead(500, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ __type: "com.amazonaws.sqs#InternalError", message: String(error) }));
  }
}

const server = createServer(onlyPrograms(answer, workerData.allowedHosts));
// Node.js would close idle connections after five seconds, possibly just as a client reuses one.
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address().port));

/** Loads LevelDB only if there is a folder. */
async function openKeptMessages(folder) {
  if (folder === undefined) return undefined;
  const { KeptMessages } = await import("./kept-messages.mjs");
  return await KeptMessages.open(folder);
}
