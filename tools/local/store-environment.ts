import { tables } from "../../functions/areas.ts";
import { tableVariable } from "../../shared/table.ts";
import type { LocalBackend } from "./service.ts";
import type { Template } from "./template/template.ts";

/** The names of a template's tables by their variables, those too that no function of it uses. */
export function tableNamesIn(template: Pick<Template, "tables">): Record<string, string> {
  const names = new Map(template.tables.map(({ logicalId, name }) => [withoutHash(logicalId), name]));
  return Object.fromEntries(
    tables.flatMap((table) => {
      const variable = tableVariable(table);
      const name = names.get(variable.replaceAll("_", ""));
      return name === undefined ? [] : [[variable, name]];
    }),
  );
}

/** CDK appends eight digits to the letters and digits of a name. */
function withoutHash(logicalId: string): string {
  return logicalId.slice(0, -8);
}

/** The environment in which a program's stores use the tables of a local service. */
export function storeEnvironment({ template, environmentOf }: LocalBackend): Record<string, string> {
  const variables = template.functions.flatMap(({ logicalId }) => Object.entries(environmentOf(logicalId)));
  const ofAws = variables.filter(([name]) => /^AWS_(?!LAMBDA_)/.test(name));
  return { ...Object.fromEntries(ofAws), ...tableNamesIn(template) };
}
