import { type Assembly, readAssembly } from "./assembly.ts";
import { type LocalFunction, readFunctions } from "./functions.ts";
import { type LocalEventSource, type LocalQueue, readEventSources, readQueues } from "./queues.ts";
import { Resources } from "./resources.ts";
import { type RestApi, readRestApi } from "./rest-api.ts";
import { type LocalSchedule, readSchedules } from "./schedules.ts";
import { type LocalRotation, type LocalSecret, readRotations, readSecrets } from "./secrets.ts";
import { type LocalTable, readTables } from "./tables.ts";

/**
 * The parts of a synthesized template that exist on this machine. Only what the stack uses is supported; a template
 * with anything else is refused.
 */
export class Template {
  readonly functions: readonly LocalFunction[];
  readonly tables: readonly LocalTable[];
  readonly secrets: readonly LocalSecret[];
  readonly rotations: readonly LocalRotation[];
  readonly queues: readonly LocalQueue[];
  readonly eventSources: readonly LocalEventSource[];
  readonly schedules: readonly LocalSchedule[];
  readonly api: RestApi;
  readonly #assembly: Assembly;
  readonly #deadlineFactor: number;

  /**
   * @param deadlineFactor by which functions may take longer than they say; those that consume queues only to load their
   * handler, as a message would come again while it is still being handled.
   * @param queueUrls the URLs of queues that have been created, by logical id.
   * @throws {Error} naming the resource that cannot be served locally.
   */
  constructor(assembly: Assembly, deadlineFactor = 1, queueUrls: ReadonlyMap<string, string> = new Map()) {
    const resources = new Resources(assembly.document, queueUrls);
    this.#assembly = assembly;
    this.#deadlineFactor = deadlineFactor;
    const functions = readFunctions(resources, assembly.assetDirectories);
    this.tables = readTables(resources);
    this.secrets = readSecrets(resources);
    this.rotations = readRotations(resources, functions);
    this.queues = readQueues(resources);
    this.eventSources = readEventSources(resources, functions, this.queues);
    this.schedules = readSchedules(resources, functions);
    this.api = readRestApi(resources, functions);
    this.functions = functions.map((read) => {
      const timeoutSeconds = read.timeoutSeconds * (this.consumesQueue(read) ? 1 : deadlineFactor);
      return { ...read, timeoutSeconds, initializationSeconds: read.initializationSeconds * deadlineFactor };
    });
  }

  /** Whether messages of a queue invoke a function. */
  consumesQueue({ logicalId }: Pick<LocalFunction, "logicalId">): boolean {
    return this.eventSources.some(({ functionLogicalId }) => functionLogicalId === logicalId);
  }

  /** The same template with the URLs of the queues that have been created. */
  withQueueUrls(queueUrls: ReadonlyMap<string, string>): Template {
    return new Template(this.#assembly, this.#deadlineFactor, queueUrls);
  }

  /** @throws {Error} if the template has no such function. */
  functionOf(logicalId: string): LocalFunction {
    const found = this.functions.find((candidate) => candidate.logicalId === logicalId);
    if (found === undefined) throw new Error(`The template has no function ${logicalId}`);
    return found;
  }

  /** @throws {Error} if the template has no such queue. */
  queueOf(logicalId: string): LocalQueue {
    const found = this.queues.find((candidate) => candidate.logicalId === logicalId);
    if (found === undefined) throw new Error(`The template has no queue ${logicalId}`);
    return found;
  }
}

/**
 * Reads the template of a cloud assembly.
 * @param deadlineFactor see `Template`.
 */
export function loadTemplate(assembly: string, deadlineFactor?: number): Template {
  return new Template(readAssembly(assembly), deadlineFactor);
}
