import * as z from "zod";
import { readJsonAs } from "../import/json-file.ts";
import { templateSchema } from "./grants.ts";

const textOfTemplate = z
  .string()
  .refine((text) => templateSchema.safeParse(jsonIn(text)).success)
  .transform((text) => templateSchema.parse(jsonIn(text)));

/** The AWS CLI writes a template as an object, or as its text. */
const templateFile = z.union([templateSchema, textOfTemplate], "must be a template of CloudFormation");

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads a template of CloudFormation, as `cdk synth` writes it or `aws cloudformation get-template` prints it. */
export async function readTemplate(path: string): Promise<z.output<typeof templateSchema>> {
  return await readJsonAs(templateFile, path);
}
