import * as z from "zod";
import { readJsonAs } from "../import/json-file.ts";
import { jsonIn } from "../json-text.ts";
import { templateSchema } from "./grants.ts";

const textOfTemplate = z
  .string()
  .refine((text) => templateSchema.safeParse(jsonIn(text)).success)
  .transform((text) => templateSchema.parse(jsonIn(text)));

/** The AWS CLI writes a template as an object, or as its text. */
const templateFile = z.union([templateSchema, textOfTemplate], "must be a template of CloudFormation");

/** Reads a template of CloudFormation, as `cdk synth` writes it or `aws cloudformation get-template` prints it. */
export async function readTemplate(path: string): Promise<z.output<typeof templateSchema>> {
  return await readJsonAs(templateFile, path);
}
