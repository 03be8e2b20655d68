import { assemblySources } from "../../tools/assembly.ts";

/** The files from which the templates that tests look at are made. */
export const templateSources = [
  ...assemblySources,
  "test/infra/make-templates.ts",
  "test/infra/shared-templates.ts",
];
