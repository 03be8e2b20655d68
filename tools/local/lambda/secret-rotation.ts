/**
 * Rotations of the signing key as Secrets Manager performs them: when its schedule is created, and on request.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
 */
import { randomUUID } from "node:crypto";
import { rotationSteps } from "../../../shared/tokens/rotation.ts";
import { functionArnOf, signingKeySecret } from "../declared/aws-names.ts";
import { type SecretStore, SecretsError } from "../servers/secret-store.ts";
import type { RotationStarter } from "../servers/secrets-endpoint.ts";
import type { LogSink } from "./log-sink.ts";

const { arn, name } = signingKeySecret;

type Invoke = (functionId: string, event: unknown) => Promise<unknown>;

/** The rotations of the one secret of a service. */
export class SecretRotations implements RotationStarter {
  readonly #store: SecretStore;
  readonly #functionId: string;
  readonly #invoke: Invoke;
  readonly #logs: LogSink;
  #isRunning = false;

  /** @param logs receives a line if a rotation fails after `start` has returned. */
  constructor(store: SecretStore, functionId: string, invoke: Invoke, logs: LogSink) {
    this.#store = store;
    this.#functionId = functionId;
    this.#invoke = invoke;
    this.#logs = logs;
  }

  /** Rotates the secret if it has never been rotated, as when its schedule is created. */
  async rotateNew(): Promise<void> {
    if (this.#store.describe(arn).rotationFunctionArn !== undefined) return;
    const token = randomUUID();
    this.#begin(token);
    await this.#run(token);
  }

  /**
   * Begins a rotation and returns at once, as `RotateSecret` does.
   * @throws {SecretsError} if the last rotation is incomplete, which is then retried.
   */
  start(secretId: string, token: string): { readonly arn: string; readonly name: string } {
    const { versionIdsToLabels } = this.#store.describe(secretId);
    const [pending, labels = []] =
      Object.entries(versionIdsToLabels).find(([, those]) => those.includes("AWSPENDING")) ?? [];
    if (this.#isRunning || (pending !== undefined && !labels.includes("AWSCURRENT"))) {
      if (!this.#isRunning && pending !== undefined) this.#runAside(pending);
      throw new SecretsError(
        "InvalidRequestException",
        "A previous rotation isn't complete. That rotation will be reattempted.",
      );
    }
    this.#begin(token);
    this.#runAside(token);
    return { arn, name };
  }

  #begin(token: string): void {
    this.#store.beginRotation(arn, functionArnOf(this.#functionId), token);
  }

  #runAside(token: string): void {
    this.#run(token).catch((error: unknown) => {
      const line = { level: "ERROR", message: String(error), timestamp: new Date().toISOString() };
      this.#logs.write(`${JSON.stringify(line)}\n`);
    });
  }

  /** @throws {Error} naming the step that failed, or if the new version has not become the current one. */
  async #run(token: string): Promise<void> {
    this.#isRunning = true;
    try {
      for (const Step of rotationSteps) {
        const event = { Step, SecretId: arn, ClientRequestToken: token };
        await this.#invoke(this.#functionId, event).catch((error: unknown) => {
          throw new Error(`Step ${Step} of the rotation failed: ${String(error)}`, { cause: error });
        });
      }
      if (!this.#store.describe(arn).versionIdsToLabels[token]?.includes("AWSCURRENT")) {
        throw new Error("The rotation ended without making its version the current one");
      }
    } finally {
      this.#isRunning = false;
    }
  }
}
