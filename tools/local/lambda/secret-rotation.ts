/**
 * Rotations as Secrets Manager performs them: when a schedule is created, and on request.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
 */
import { randomUUID } from "node:crypto";
import { type SecretStore, SecretsError } from "../servers/secret-store.ts";
import type { RotationStarter } from "../servers/secrets-endpoint.ts";
import type { LocalRotation } from "../template/secrets.ts";
import type { LogSink } from "./log-sink.ts";

const steps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;

type Invoke = (functionLogicalId: string, event: unknown) => Promise<unknown>;

/** The rotations of one service. */
export class SecretRotations implements RotationStarter {
  readonly #store: SecretStore;
  readonly #rotated: readonly LocalRotation[];
  readonly #invoke: Invoke;
  readonly #logs: LogSink;
  readonly #running = new Set<string>();

  /** @param logs receives a line if a rotation fails after `start` has returned. */
  constructor(store: SecretStore, rotated: readonly LocalRotation[], invoke: Invoke, logs: LogSink) {
    this.#store = store;
    this.#rotated = rotated;
    this.#invoke = invoke;
    this.#logs = logs;
  }

  /** Rotates every secret that has never been rotated, as when its schedule is created. */
  async rotateNew(): Promise<void> {
    for (const rotated of this.#rotated) {
      if (this.#store.describe(rotated.secretArn).rotationFunctionArn !== undefined) continue;
      const token = randomUUID();
      this.#begin(rotated, token);
      await this.#run(rotated, token);
    }
  }

  /**
   * Begins a rotation and returns at once, as `RotateSecret` does.
   * @throws {SecretsError} if the secret has no rotation, or its last one is incomplete, which is then retried.
   */
  start(secretId: string, token: string): { readonly arn: string; readonly name: string } {
    const { arn, name, versionIdsToLabels } = this.#store.describe(secretId);
    const rotated = this.#rotated.find(({ secretArn }) => secretArn === arn);
    if (rotated === undefined) {
      throw new SecretsError("InvalidRequestException", "The secret has no Lambda function that rotates it.");
    }
    const isRunning = this.#running.has(arn);
    const [pending, labels = []] =
      Object.entries(versionIdsToLabels).find(([, those]) => those.includes("AWSPENDING")) ?? [];
    if (isRunning || (pending !== undefined && !labels.includes("AWSCURRENT"))) {
      if (!isRunning && pending !== undefined) this.#runAside(rotated, pending);
      throw new SecretsError(
        "InvalidRequestException",
        "A previous rotation isn't complete. That rotation will be reattempted.",
      );
    }
    this.#begin(rotated, token);
    this.#runAside(rotated, token);
    return { arn, name };
  }

  #begin({ secretArn, functionArn }: LocalRotation, token: string): void {
    this.#store.beginRotation(secretArn, functionArn, token);
  }

  #runAside(rotated: LocalRotation, token: string): void {
    this.#run(rotated, token).catch((error: unknown) => {
      const line = { level: "ERROR", message: String(error), timestamp: new Date().toISOString() };
      this.#logs.write(`${JSON.stringify(line)}\n`);
    });
  }

  /** @throws {Error} naming the step that failed, or if the new version has not become the current one. */
  async #run({ secretArn, functionLogicalId }: LocalRotation, token: string): Promise<void> {
    this.#running.add(secretArn);
    try {
      for (const Step of steps) {
        const event = { Step, SecretId: secretArn, ClientRequestToken: token };
        await this.#invoke(functionLogicalId, event).catch((error: unknown) => {
          throw new Error(`Step ${Step} of the rotation by ${functionLogicalId} failed: ${String(error)}`, {
            cause: error,
          });
        });
      }
      if (!this.#store.describe(secretArn).versionIdsToLabels[token]?.includes("AWSCURRENT")) {
        throw new Error(
          `The rotation by ${functionLogicalId} ended without making its version the current one`,
        );
      }
    } finally {
      this.#running.delete(secretArn);
    }
  }
}
