import { lambdaRuntimeApi, setting } from "../../../shared/environment.ts";
import { hashed } from "../../../shared/hash.ts";
import { post } from "../../../shared/sinks/post.ts";
import { sinkHost } from "../../../shared/sinks/sink-url.ts";
import { SINK_ALLOWED_NETWORKS } from "../../../shared/variables/sink-allowed-networks.ts";
import { answerTo } from "../answer/answer-to.ts";
import { basisList } from "../answer/basis.ts";
import { type Answer, bodyOf } from "../answer/json.ts";
import { parseDensityRequest } from "../query/parse.ts";
import { readWebhookSecrets } from "../webhook-secrets/store.ts";
import { answerTime, failureInfo, type PendingJob } from "./job.ts";
import { measured } from "./measure.ts";
import type { Sinks } from "./ports.ts";
import { beginSignature } from "./sign.ts";

/**
 * Sends to real sinks (docs/deliveries.md). Reads all tiles of an answer, counts the bytes of the body and signs it
 * before connecting to the sink.
 */
export const sinks: Sinks = {
  async post(job, beforeLastChunk, signal) {
    const { operationId, caller, sink, accessToken, correlator } = job;
    const [answer, secrets] = await Promise.all([
      job.mode === "failure" ? failureOf(job) : answerOf(job, signal),
      readWebhookSecrets(caller, signal),
    ]);
    const bufferPool: Buffer[] = [];
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = beginSignature(
      { id: operationId, timestamp },
      secrets.map(({ secret }) => secret),
    );
    const write = () => bodyOf(answer, bufferPool);
    const { bodyBytes, body } = await measured(write, signature.update, bufferPool, signal);
    let bytes = 0;
    const counted = async function* (): AsyncGenerator<Buffer, void, undefined> {
      for await (const chunk of body) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    const result = await post({
      sink,
      headers: {
        "content-type": "application/json",
        ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
        "x-correlator": correlator,
        ...(job.mode === "failure" ? {} : { "x-density-basis": basisList(answer) }),
        "webhook-id": operationId,
        "webhook-timestamp": timestamp,
        ...signature.headers(),
      },
      body: counted(),
      bodyBytes,
      beforeLastChunk,
      bufferPool,
      allowed: setting(SINK_ALLOWED_NETWORKS),
      runtimeApi: lambdaRuntimeApi(),
      signal,
    });
    return { ...result, bytes };
  },

  hostOf: (sink) => hashed(`host ${sinkHost(sink)}`),
};

async function answerOf(job: PendingJob, signal: AbortSignal): Promise<Answer> {
  const { operationId, request } = job;
  const query = parseDensityRequest(request, answerTime(job));
  if ("code" in query) throw new Error(`a job that is refused: ${query.code}`);
  return { operationId, ...(await answerTo(query, signal)) };
}

function failureOf(job: PendingJob): Answer {
  const { operationId, request } = job;
  return {
    operationId,
    status: "OPERATION_NOT_COMPLETED",
    statusInfo: failureInfo(job),
    precision: request.precision,
    tiles: [],
    hours: [],
    openHour: () => undefined,
    basisOf: () => undefined,
  };
}
