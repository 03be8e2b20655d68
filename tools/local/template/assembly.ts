/**
 * A cloud assembly: the output of `cdk synth`. Its files: https://docs.aws.amazon.com/cdk/v2/guide/configure-synth.html
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as z from "zod";

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({ type: z.string(), properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});

const assetsSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string().optional(), packaging: z.string().optional() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

const documentSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      Condition: z.undefined("conditions are not supported locally").optional(),
      Properties: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
});

/** A CloudFormation template as written, with its intrinsic functions unresolved. */
export type TemplateDocument = z.output<typeof documentSchema>;

/** The merged stacks of an assembly, and their assets. */
export interface Assembly {
  /** The resources of all stacks, which never have a logical id in common. */
  readonly document: TemplateDocument;
  /** Folders that are uploaded as zip files, by their keys in the bucket. */
  readonly assetDirectories: ReadonlyMap<string, string>;
}

/**
 * Reads an assembly.
 * @throws {Error} if a file is missing or malformed, there is no stack, or two stacks share a logical id.
 */
export function readAssembly(directory: string): Assembly {
  const { artifacts } = read(join(directory, "manifest.json"), manifestSchema);
  const files = (type: string, property: string) =>
    Object.values(artifacts)
      .filter((artifact) => artifact.type === type)
      .map((artifact) => join(directory, z.string().parse(artifact.properties[property])));

  const stacks = files("aws:cloudformation:stack", "templateFile");
  if (stacks.length === 0) throw new Error(`${directory} contains no stack`);
  const resources = stacks.flatMap((stack) => Object.entries(read(stack, documentSchema).Resources));
  const Resources = Object.fromEntries(resources);
  if (Object.keys(Resources).length < resources.length) {
    throw new Error(`${directory} has the same logical id in two stacks, which is not supported locally`);
  }

  const assetDirectories = new Map<string, string>();
  for (const file of files("cdk:asset-manifest", "file")) {
    for (const { source, destinations } of Object.values(read(file, assetsSchema).files)) {
      if (source.packaging !== "zip" || source.path === undefined) continue;
      for (const { objectKey } of Object.values(destinations)) {
        assetDirectories.set(objectKey, resolve(directory, source.path));
      }
    }
  }
  return { document: { Resources }, assetDirectories };
}

function read<S extends z.ZodType>(file: string, schema: S): z.output<S> {
  if (!existsSync(file)) throw new Error(`${file} does not exist: synthesize the stack first`);
  const parsed = schema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success) throw new Error(`${file} is malformed: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
