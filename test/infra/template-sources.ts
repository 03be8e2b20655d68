import { importedFiles } from "../../tools/imported-files.ts";
import { bundleSources } from "../../tools/made-bundles.ts";

/** The files from which the templates that tests look at are made. */
export function templateSources(): readonly string[] {
  return [...new Set([...bundleSources(), ...importedFiles("test/infra/make-templates.ts")])];
}
