import { afterAll, beforeAll } from "vitest";
import type { LocalService, LocalServiceOptions } from "../../tools/local/service.ts";
import { startLocalService } from "../../tools/local/service.ts";
import { sampleAssembly } from "./sample-assembly.ts";

/** A service of the sample stack with what it has logged. */
export interface StartedSample extends LocalService {
  readonly logs: string[];
  readonly assembly: string;
}

/** Starts the sample stack on a free port, from the given assembly or one that it makes and removes. */
export async function startSample(options: Partial<LocalServiceOptions> = {}): Promise<StartedSample> {
  const assembly = options.assembly
    ? { directory: options.assembly, remove: () => {} }
    : await sampleAssembly();
  const logs: string[] = [];
  try {
    const service = await startLocalService({
      assembly: assembly.directory,
      port: 0,
      environment: {},
      configuration: [],
      logs: { write: (chunk) => logs.push(String(chunk)) },
      ...options,
    });
    const close = async () => {
      await service.close();
      assembly.remove();
    };
    return { ...service, close, logs, assembly: assembly.directory };
  } catch (error) {
    assembly.remove();
    throw error;
  }
}

/** Starts the sample stack for the tests of a file. */
export function useSample(options: Partial<LocalServiceOptions> = {}): () => StartedSample {
  let service: StartedSample;
  beforeAll(async () => {
    service = await startSample(options);
  });
  afterAll(() => service.close());
  return () => service;
}

/** The logical id of a function of the sample stack. */
export function idOf({ template }: LocalService, construct: string): string {
  const found = template.functions.find(({ logicalId }) => logicalId.startsWith(construct));
  if (found === undefined) throw new Error(`no function ${construct}`);
  return found.logicalId;
}
